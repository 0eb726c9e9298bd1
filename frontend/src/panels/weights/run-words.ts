/** The state of a run as a glyph and a word, always both. */

import type { Glyph } from "../../widgets/runs.tsx";
import type { RunSummary } from "./contract.ts";

/** Whether it has begun without a value of any step so far, be it ours or another writer's. */
export function isBlank(run: RunSummary): boolean {
  return run.state === "live" && !run.tables && run.last_step === null;
}

/** What a run without tables of ours holds: `scalars only`, `no weights`, `nothing`. */
export function holding({ holds }: RunSummary): string {
  const sorts = Object.keys(holds);
  if (!sorts.length) return "nothing";
  return sorts.length === 1 && sorts[0] === "scalar" ? "scalars only" : "no weights";
}

export function glyphAndWord(run: RunSummary): { readonly glyph: Glyph; readonly word: string } {
  if (run.error) return { glyph: "error", word: "unreadable" };
  if (run.state === "reading" || run.state === "waiting") return { glyph: run.state, word: run.state };
  if (!run.tables) return { glyph: run.state, word: isBlank(run) ? "no samples yet" : holding(run) };
  return run.nan ? { glyph: "nan", word: `${run.state}, NaN` } : { glyph: run.state, word: run.state };
}
