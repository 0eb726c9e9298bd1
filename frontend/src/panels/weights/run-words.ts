/** The state of a run as a glyph and a word, always both. */

import type { Glyph } from "../../widgets/runs.tsx";
import type { RunSummary } from "./contract.ts";

export function glyphAndWord(run: RunSummary): { readonly glyph: Glyph; readonly word: string } {
  if (run.error) return { glyph: "error", word: "unreadable" };
  if (run.state === "reading" || run.state === "waiting") return { glyph: run.state, word: run.state };
  if (!run.tables) return { glyph: run.state, word: "scalars only" };
  return run.nan ? { glyph: "nan", word: `${run.state}, NaN` } : { glyph: run.state, word: run.state };
}
