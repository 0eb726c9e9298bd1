/** Brings oddities of one kind together: the same sentence about other numbers, names and files. */

import { whole } from "../base/numbers.ts";
import { moment } from "../base/times.ts";

export interface PickerOddity {
  /** Null: of the log directory itself. */
  readonly run: string | null;
  readonly file: string | null;
  /** Of the byte in the file. */
  readonly offset: number | null;
  readonly text: string;
  /** In seconds since the epoch; null where nobody knows. */
  readonly wall: number | null;
}

export interface OddityGroup {
  /** What the texts have in common. */
  readonly key: string;
  /** Newest first; never empty. */
  readonly members: readonly PickerOddity[];
  /** Names of the runs, in the order of their newest member. */
  readonly runs: readonly string[];
}

/** Groups in the order of their newest member. Those without a time come last. */
export function groupOddities(oddities: readonly PickerOddity[]): OddityGroup[] {
  const newest = (oddity: PickerOddity) => oddity.wall ?? Number.NEGATIVE_INFINITY;
  const groups = new Map<string, PickerOddity[]>();
  for (const oddity of [...oddities].sort((a, b) => compare(newest(b), newest(a)))) {
    const key = kindOf(oddity.text);
    const members = groups.get(key);
    if (members) members.push(oddity);
    else groups.set(key, [oddity]);
  }
  return [...groups].map(([key, members]) => ({
    key,
    members,
    runs: [...new Set(members.flatMap(({ run }) => (run === null ? [] : [run])))],
  }));
}

/** Without differences, so that what has no time stays in its order. */
const compare = (a: number, b: number): number => (a === b ? 0 : a - b);

/** The sentence without what differs from file to file: quoted names, paths, numbers. */
function kindOf(text: string): string {
  return text.replace(/'[^']*'/g, "…").replace(/\S*[\d/]\S*/g, "…");
}

/** `events.out.tfevents.1.host, byte 41,288,704`. */
export function whereText({ file, offset }: PickerOddity): string {
  if (file === null) return "";
  return offset === null ? file : `${file}, byte ${whole(offset)}`;
}

/** One line each, newest first, to pass on. */
export function oddityLines(oddities: readonly PickerOddity[]): string {
  return oddities
    .map((oddity) => {
      const about = [oddity.wall === null ? "" : moment(oddity.wall), oddity.run ?? "", whereText(oddity)];
      const head = about.filter(Boolean).join("; ");
      return head ? `${head}: ${oddity.text}` : oddity.text;
    })
    .join("\n");
}

/** `14 more like it in 5 runs` */
export function likeIt(others: number, runs: number): string {
  return `${whole(others)} more like it${runs > 1 ? ` in ${whole(runs)} runs` : ""}`;
}
