/** What is known of the chosen run, and at the foot of the picker what is odd in the logs. */

import { Oddities } from "./oddities.tsx";
import type { PickerOddity } from "./oddity-groups.ts";
import { withNumbers } from "./with-numbers.tsx";

export type RunFacts = readonly (readonly [string, string])[];

interface Props {
  readonly run: string;
  readonly facts: RunFacts;
  readonly oddities: readonly PickerOddity[];
}

export function RunDetails({ run, facts, oddities }: Props) {
  return (
    <>
      {facts.length > 0 && <Facts title={run} facts={facts} />}
      {oddities.length > 0 && <Oddities oddities={oddities} />}
    </>
  );
}

function Facts({ title, facts }: { title: string; facts: RunFacts }) {
  return (
    <section class="facts" aria-label="Facts of the run" data-testid="run-facts">
      <h2 title={title}>{title}</h2>
      <dl>
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{withNumbers(value)}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
