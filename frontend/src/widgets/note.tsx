/** One line over the picture that says what it shows, and what brings back the usual. */

import type { ComponentChildren } from "preact";

interface Props {
  readonly testId: string;
  readonly action: string;
  readonly children: ComponentChildren;
  onAction(): void;
}

export function Note({ testId, action, children, onAction }: Props) {
  return (
    <div class="banner note" role="status" data-testid={testId}>
      <span>{children}</span>
      <button type="button" class="ctl" data-testid={`${testId}-back`} onClick={onAction}>
        {action}
      </button>
    </div>
  );
}
