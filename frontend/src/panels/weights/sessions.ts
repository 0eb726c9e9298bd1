/** Where one session of a run follows another, and in words what became of the one before. */

import { plural, whole } from "../../base/numbers.ts";
import { type Span, toPixel } from "../../base/span.ts";
import { moment } from "../../base/times.ts";
import type { SessionInfo, Steps } from "./contract.ts";

/** A place where another session takes over, or the first sample where that is not of the first session. */
export interface Restart {
  readonly step: number;
  readonly session: number;
  /** Of the sample before; -1 where there is none. */
  readonly before: number;
}

export function restartsOf(steps: Steps | undefined): Restart[] {
  const restarts: Restart[] = [];
  let before = -1;
  for (let k = 0; k < (steps?.steps.length ?? 0); k++) {
    const session = steps!.session[k]!;
    if (session === before) continue;
    if (before >= 0 || session > 0) restarts.push({ step: steps!.steps[k]!, session, before });
    before = session;
  }
  return restarts;
}

/** One or several restarts over the picture, closer to each other than could be told apart. */
export interface Mark {
  readonly x: number;
  /** The session that begins there; of several the last. */
  readonly session: number;
  /** Beside the glyph; empty where there is no room. */
  readonly label: string;
}

const TOGETHER_PX = 14;
const GLYPH_PX = 16;
/** As wide as a letter of the smallest text is at most, over a line of them. */
const LETTER_PX = 6;

/** Marks of the restarts in `view`, with as many words as have room before the next one and up to `room_px`. */
export function placeMarks(
  restarts: readonly Restart[],
  sessions: readonly SessionInfo[],
  view: Span,
  width_px: number,
  room_px: number,
): Mark[] {
  const groups: { x: number; members: Restart[] }[] = [];
  for (const restart of restarts) {
    const x = toPixel(restart.step, view, width_px);
    if (x < 0 || x > width_px) continue;
    const last = groups.at(-1);
    if (last && x - last.x < TOGETHER_PX) last.members.push(restart);
    else groups.push({ x, members: [restart] });
  }
  return groups.map(({ x, members }, k) => {
    const free = Math.min(groups[k + 1]?.x ?? Number.POSITIVE_INFINITY, room_px) - x - GLYPH_PX;
    const last = members.at(-1)!;
    const words =
      members.length > 1 ? [`${members.length} restarts`] : [restartText(last, sessions), "restart"];
    return { x, session: last.session, label: words.find((text) => text.length * LETTER_PX <= free) ?? "" };
  });
}

/** `restart`, and what of the sessions before it is no longer shown. */
export function restartText({ session, before }: Restart, sessions: readonly SessionInfo[]): string {
  if (sessions[session]?.offset != null && before < 0)
    return `counter began again, ${plural(session, "session")} hidden`;
  const lost = sessions
    .slice(Math.max(0, before), session)
    .reduce((sum, each) => sum + (each.overwritten?.samples ?? 0), 0);
  return lost ? `restart, ${plural(lost, "sample")} superseded` : "restart";
}

/** A stretch of the picture in px, over steps that were recorded more than once. */
export interface Bar {
  readonly left: number;
  readonly right: number;
}

const LEAST_BAR_PX = 2;

/** Where in `view` later sessions recorded steps again, of the sessions that count. Bars that touch are one. */
export function againBars(
  sessions: readonly SessionInfo[],
  until: number | null,
  view: Span,
  width_px: number,
): Bar[] {
  const bars = sessions
    .slice(0, until === null ? sessions.length : until + 1)
    .flatMap(({ overwritten }) => {
      if (!overwritten) return [];
      const left = toPixel(overwritten.from, view, width_px);
      const right = Math.max(toPixel(overwritten.to, view, width_px), left + LEAST_BAR_PX);
      return right < 0 || left > width_px
        ? []
        : [{ left: Math.max(0, left), right: Math.min(width_px, right) }];
    })
    .sort((a, b) => a.left - b.left);
  const merged: { left: number; right: number }[] = [];
  for (const bar of bars) {
    const last = merged.at(-1);
    if (last && bar.left <= last.right + 1) last.right = Math.max(last.right, bar.right);
    else merged.push({ ...bar });
  }
  return merged;
}

/** `Steps 1,200 to 1,480 were superseded since, 15 samples.` */
export function overwrittenText({ overwritten }: SessionInfo): string {
  if (!overwritten) return "";
  const { from, to, samples } = overwritten;
  const steps = from === to ? `Step ${whole(from)} was` : `Steps ${whole(from)} to ${whole(to)} were`;
  return `${steps} superseded since, ${plural(samples, "sample")}.`;
}

/** Says that this is not the run as it stands; empty where it is. */
export function pastText(sessions: readonly SessionInfo[], until: number | null): string {
  const next = until === null ? undefined : sessions[until + 1];
  if (!next) return "";
  const began = `As the run stood before session ${until! + 2} began (${moment(next.wall)}).`;
  return `${began} ${overwrittenText(sessions[until!]!)}`.trimEnd();
}

/** `Sessions lie one behind the other: 1,481 is added to the steps of session 2, 2,962 to those of session 3.` */
export function shiftText(sessions: readonly SessionInfo[]): string {
  const moved = sessions.flatMap(({ offset }, k) => (offset === null ? [] : [[offset, k + 1] as const]));
  const [first, ...others] = moved;
  if (!first) return "Sessions lie one behind the other.";
  const list = [
    `${whole(first[0])} is added to the steps of session ${first[1]}`,
    ...(others.length < 3
      ? others.map(([offset, number]) => `${whole(offset)} to those of session ${number}`)
      : [`more to those of ${whole(others.length)} others`]),
  ];
  return `Sessions lie one behind the other: ${list.join(", ")}.`;
}

/** `Written in 3 sessions: the counter began again in 2 of them, 10 points were superseded.` */
export function writtenIn(sessions: readonly SessionInfo[]): string {
  const again = sessions.filter(({ offset }) => offset !== null).length;
  const anew = sessions.reduce((sum, { overwritten }) => sum + (overwritten?.samples ?? 0), 0);
  const what = [
    ...(again ? [`the counter began again in ${whole(again)} of them`] : []),
    ...(anew ? [`${plural(anew, "point")} ${anew === 1 ? "was" : "were"} superseded`] : []),
  ].join(", ");
  return `Written in ${whole(sessions.length)} sessions${what && `: ${what}`}.`;
}
