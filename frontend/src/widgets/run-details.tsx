/** What is known of the chosen run, and at the foot of the picker what is odd in the logs. */

import { useState } from "preact/hooks";
import { whole } from "../base/numbers.ts";
import { Icon } from "./icons.tsx";
import { withNumbers } from "./with-numbers.tsx";

export type RunFacts = readonly (readonly [string, string])[];

export interface PickerOddity {
  readonly run: string;
  readonly text: string;
  /** Where: file and offset. */
  readonly where: string;
}

interface Props {
  readonly run: string;
  readonly facts: RunFacts;
  /** Newest first. */
  readonly oddities: readonly PickerOddity[];
}

const SHOWN_ODDITIES = 3;

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

function Oddities({ oddities }: { oddities: readonly PickerOddity[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? oddities : oddities.slice(0, SHOWN_ODDITIES);
  return (
    <section class="odd" aria-label="Oddities" data-testid="oddities">
      <h2>
        <Icon name="warn" />
        Oddities <span class="num">{oddities.length}</span>
      </h2>
      <ul>
        {shown.map((oddity) => (
          <li key={`${oddity.where} ${oddity.text}`} title={oddity.where}>
            {oddity.run && <u>{oddity.run}</u>}
            {oddity.run && ": "}
            {withNumbers(oddity.text)}
          </li>
        ))}
      </ul>
      {oddities.length > SHOWN_ODDITIES && (
        <button type="button" class="more" onClick={() => setAll(!all)}>
          {all ? "Fewer" : `${whole(oddities.length - SHOWN_ODDITIES)} more`}
        </button>
      )}
    </section>
  );
}
