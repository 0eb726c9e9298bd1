/** Every oddity by its kind, in a dialog, to read and to copy. */

import { useEffect, useRef, useState } from "preact/hooks";
import { plural, whole } from "../base/numbers.ts";
import { moment } from "../base/times.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon, Triangle } from "./icons.tsx";
import { likeIt, type OddityGroup, oddityLines, type PickerOddity, whereText } from "./oddity-groups.ts";
import { withNumbers } from "./with-numbers.tsx";

/** At once of one kind: a log may have a hundred thousand. */
const PAGE = 100;

interface Props {
  readonly groups: readonly OddityGroup[];
  onClose(): void;
}

export function OddityList({ groups, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const all = groups.flatMap((group) => group.members);
  return (
    <dialog
      class="oddlist"
      ref={dialog}
      aria-label="Oddities"
      data-testid="oddity-list"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h1>{withNumbers(`${oddCount(all.length)} of ${plural(groups.length, "kind")}`)}</h1>
        <CopyButton
          icon="copy"
          label="Copy all"
          title="Copy all oddities as text"
          testId="copy-oddities"
          text={() => oddityLines(all)}
        />
        <button
          type="button"
          class="ctl bare square"
          title="Close (Esc)"
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="kinds">
        {groups.map((group) => (
          <Group key={group.key} group={group} open={groups.length === 1} />
        ))}
      </div>
    </dialog>
  );
}

const oddCount = (count: number): string => `${whole(count)} ${count === 1 ? "oddity" : "oddities"}`;

function Group({ group: { members, runs }, open }: { group: OddityGroup; open: boolean }) {
  const [shown, setShown] = useState(open ? PAGE : 0);
  const newest = members[0]!;
  return (
    <section data-testid="oddity-kind">
      <p class="text">{withNumbers(newest.text)}</p>
      <Where oddity={newest} />
      {members.length === 1 ? null : shown === 0 ? (
        <button type="button" class="ctl bare more" onClick={() => setShown(PAGE)}>
          <Triangle open={false} />
          {likeIt(members.length - 1, runs.length)}
        </button>
      ) : (
        <>
          <ul>
            {members.slice(1, shown + 1).map((oddity, k) => (
              <li key={k}>
                {oddity.text !== newest.text && <p class="text">{withNumbers(oddity.text)}</p>}
                <Where oddity={oddity} />
              </li>
            ))}
          </ul>
          {members.length > shown + 1 && (
            <button type="button" class="ctl bare more" onClick={() => setShown(shown + PAGE)}>
              {whole(members.length - shown - 1)} more
            </button>
          )}
        </>
      )}
    </section>
  );
}

function Where({ oddity }: { oddity: PickerOddity }) {
  return (
    <p class="where">
      {oddity.run !== null && <u>{oddity.run}</u>}
      <span>{withNumbers(whereText(oddity))}</span>
      {oddity.wall !== null && <span class="num">{moment(oddity.wall)}</span>}
    </p>
  );
}
