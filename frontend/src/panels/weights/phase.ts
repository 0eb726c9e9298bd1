/** Decides what stands in the picture's place. */

import { Gone } from "../../host/request.ts";
import type { App } from "./app-context.ts";
import type { Cells, RunSummary } from "./contract.ts";
import { inline } from "./statistics.ts";

export type Phase =
  | { readonly is: "loading" }
  | { readonly is: "empty" }
  | { readonly is: "scalars"; readonly run: string }
  | { readonly is: "partial"; readonly run: string; readonly statistic: string }
  | { readonly is: "error"; readonly run: string; readonly sentence: string; readonly retry?: () => void }
  | { readonly is: "picture" };

export function phaseOf({ model, picture }: Pick<App, "model" | "picture">): Phase {
  const runs = model.runs.value;
  const { run, statistic } = model.choices.value;
  if (!runs) return { is: "loading" };
  if (runs.problem) return { is: "error", run: "This logdir", sentence: runs.problem };
  if (run === null && !runs.runs.some((each) => each.tables || each.error) && runs.progress.done)
    return { is: "empty" };
  if (run === null) return emptyOrTrouble(runs.runs, runs.progress.done);
  const summary = model.summary.value;
  if (!summary)
    return runs.progress.done
      ? {
          is: "error",
          run,
          sentence: `There is no run '${run}' in this logdir. It may have been moved or removed.`,
        }
      : { is: "loading" };
  if (summary.error) return { is: "error", run, sentence: summary.error };
  if (!summary.tables) return isRead(summary) ? { is: "scalars", run } : { is: "loading" };
  const infoError = refusal(model.info.error.value?.error);
  if (infoError) return { is: "error", run, sentence: infoError, retry: model.info.retry };
  const scope = model.scope.value;
  if (!scope) return { is: "loading" };
  const column = model.column.value;
  if (!column) return { is: "partial", run, statistic };
  const cellsError = refusal(picture.cells.error.value?.error);
  if (cellsError) return { is: "error", run, sentence: cellsError, retry: picture.cells.retry };
  const cells = picture.cells.answer.value?.value;
  if (!cells) return { is: "loading" };
  return !picture.asked.value && isBare(cells)
    ? { is: "partial", run, statistic: inline(column.label) }
    : { is: "picture" };
}

const isRead = ({ state }: RunSummary): boolean => state !== "reading" && state !== "waiting";

function emptyOrTrouble(runs: readonly { name: string; error: string | null }[], done: boolean): Phase {
  const broken = runs.find((each) => each.error);
  if (!done || !broken) return { is: "loading" };
  return { is: "error", run: broken.name, sentence: broken.error! };
}

/** Trouble of the connection is told above the picture, which stays. */
function refusal(error: Error | undefined): string | null {
  return error && !(error instanceof Gone) ? error.message : null;
}

/** Whether not one sample of the statistic has a value of any kind. */
export function isBare(cells: Pick<Cells, "distribution">): boolean {
  const { counts, zeros, nan, pinf, ninf } = cells.distribution;
  return zeros + nan + pinf + ninf === 0 && counts.every((count) => count === 0);
}
