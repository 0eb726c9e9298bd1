/** Signs on the root element that tests wait for instead of for time to pass. docs/weights.md lists them. */

import type { Picture } from "./picture.ts";

export function signalPhase(phase: string, away: boolean, interactive: boolean, cursor: number | null): void {
  const { dataset } = document.documentElement;
  dataset.cursor = String(cursor ?? "");
  dataset.state = phase;
  dataset.away = String(away);
  dataset.interactive = String(interactive);
}

/** Called after each painted frame. */
export function signalPaint(picture: Picture, interactive: boolean): void {
  const { dataset } = document.documentElement;
  const cells = picture.cells.answer.peek()?.value;
  const view = picture.view.peek();
  if (!cells || !view) return;
  if (dataset.paints === undefined) performance.mark("first picture");
  dataset.paints = String(Number(dataset.paints ?? 0) + 1);
  dataset.paintedGeneration = String(cells.generation);
  dataset.paintedRun = cells.run;
  dataset.paintedStatistic = cells.column;
  dataset.lastStep = String(cells.last);
  dataset.window = `${Math.round(view.from)}..${Math.round(view.to)}`;
  dataset.settled = String(picture.settled.peek() && interactive);
}
