/** What a panel shows above its picture: how far it has read, and what is wrong. Never a spinner. */

import type { ComponentChildren } from "preact";
import { Icon } from "./icons.tsx";

/** A thin line; the words beside it are the panel's. */
export function Progress({ share }: { share: number | null }) {
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label="Reading the logs"
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share !== null && { "aria-valuenow": Math.round(share * 100) })}
      data-testid="progress"
    >
      <i style={{ width: `${(share ?? 0) * 100}%` }} />
    </div>
  );
}

interface BannerProps {
  readonly testId: string;
  readonly children: ComponentChildren;
  readonly action?: string;
  onAction?(): void;
}

/** One line of trouble over the picture, which stays. */
export function Banner({ testId, children, action, onAction }: BannerProps) {
  return (
    <div class="banner" role="alert" data-testid={testId}>
      <Icon name="warn" />
      <span>{children}</span>
      {action && (
        <button type="button" class="ctl" data-testid={`${testId}-retry`} onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}
