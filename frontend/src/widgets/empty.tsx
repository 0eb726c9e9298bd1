/** What a panel shows in the place of its picture: why there is none, and what fills it. */

import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

interface EmptyProps {
  readonly title: string;
  readonly testId: string;
  readonly facts?: readonly (readonly [string, ComponentChildren])[];
  readonly children?: ComponentChildren;
}

/** Why there is no picture, and what fills it. */
export function Empty({ title, testId, facts, children }: EmptyProps) {
  return (
    <section class="empty" data-testid={testId}>
      <h1>{title}</h1>
      {facts && (
        <dl>
          {facts.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      )}
      {children}
    </section>
  );
}

/** A call to paste. The last line is the one that matters. */
export function Code({ lines, testId }: { lines: readonly string[]; testId: string }) {
  return (
    <div class="code">
      <pre>
        {lines.slice(0, -1).map((line) => `${line}\n`)}
        <b>{lines.at(-1)}</b>
      </pre>
      <CopyButton
        icon="copy"
        label="Copy"
        title="Copy the call"
        testId={testId}
        text={() => lines.join("\n")}
      />
    </div>
  );
}
