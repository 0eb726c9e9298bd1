/** The state of a run as a glyph and a word, always both. */

import type { Glyph } from "../../widgets/runs.tsx";
import type { RunSummary } from "./contract.ts";

/** Whether it has begun without a value of any step so far, be it ours or another writer's. */
export function isBlank(run: RunSummary): boolean {
  return run.state === "live" && !run.tables && run.last_step === null;
}

export function glyphAndWord(run: RunSummary): { readonly glyph: Glyph; readonly word: string } {
  if (run.error) return { glyph: "error", word: "unreadable" };
  if (run.state === "reading" || run.state === "waiting") return { glyph: run.state, word: run.state };
  if (!run.tables) return { glyph: run.state, word: isBlank(run) ? "no samples yet" : "scalars only" };
  return run.nan ? { glyph: "nan", word: `${run.state}, NaN` } : { glyph: run.state, word: run.state };
}
