/** What is odd in the logs: the newest kinds at the foot of the picker, every single one on demand. */

import { useMemo, useState } from "preact/hooks";
import { whole } from "../base/numbers.ts";
import { Icon } from "./icons.tsx";
import { groupOddities, likeIt, type OddityGroup, type PickerOddity } from "./oddity-groups.ts";
import { OddityList } from "./oddity-list.tsx";
import { withNumbers } from "./with-numbers.tsx";

const SHOWN_GROUPS = 3;

export function Oddities({ oddities }: { oddities: readonly PickerOddity[] }) {
  const [all, setAll] = useState(false);
  const groups = useMemo(() => groupOddities(oddities), [oddities]);
  return (
    <section class="odd" aria-label="Oddities" data-testid="oddities">
      <h2>
        <Icon name="warn" />
        Oddities <span class="num">{whole(oddities.length)}</span>
        <button type="button" class="ctl bare" data-testid="all-oddities" onClick={() => setAll(true)}>
          Show all
        </button>
      </h2>
      <ul>
        {groups.slice(0, SHOWN_GROUPS).map((group) => (
          <Kind key={group.key} group={group} />
        ))}
      </ul>
      {groups.length > SHOWN_GROUPS && (
        <p>{withNumbers(`and ${whole(groups.length - SHOWN_GROUPS)} more kinds`)}</p>
      )}
      {all && <OddityList groups={groups} onClose={() => setAll(false)} />}
    </section>
  );
}

/** Its newest member, and how many others there are. */
function Kind({ group: { members, runs } }: { group: OddityGroup }) {
  const { run, text } = members[0]!;
  return (
    <li>
      {run !== null && (
        <>
          <u>{run}</u>
          {": "}
        </>
      )}
      {withNumbers(text)}
      {members.length > 1 && withNumbers(` ${likeIt(members.length - 1, runs.length)}.`)}
    </li>
  );
}
