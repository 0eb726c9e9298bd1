/** What the user can do to the view. Each changes choices; questions, answers and the picture follow. */

import { nearest } from "../../base/sorted.ts";
import { clampSpan, panSpan, type Span, toStep, zoomSpan } from "../../base/span.ts";
import { HIGHEST_ROW_PX } from "./layout.ts";
import type { Limits } from "./limits.ts";
import type { Model } from "./model.ts";
import type { Picture } from "./picture.ts";

export interface Actions {
  /** Another run is shown whole. */
  chooseRun(name: string): void;
  chooseScope(name: string): void;
  chooseStatistic(name: string): void;
  /** Shows the run as it stood before the session after this one began; null: as it stands. */
  showUntil(session: number | null): void;
  /** Lays sessions whose counter began at 0 again one behind the other. All steps change, so all is shown. */
  setShift(on: boolean): void;
  /** Null: robust ones. */
  setLimits(limits: Limits | null): void;
  setFilter(text: string): void;
  setFollow(on: boolean): void;
  /** Shows these steps. Follow latest stays on only where they end with the newest. */
  show(span: Span): void;
  zoomSteps(factor: number, at: number): void;
  pan(steps: number): void;
  /** The whole run, also as it grows, and as many px a row as fit. */
  reset(): void;
  /** Puts the cursor on the sample closest to `step`, which may be infinite. */
  moveTo(step: number): void;
  moveBy(samples: number): void;
  toggleFold(path: string): void;
  foldAll(): void;
  unfoldAll(): void;
  /** As many px a row as fit. */
  fitRows(): void;
  /** One px a row more or less, from what is shown. */
  growRows(by: number): void;
}

export function createActions(model: Model, picture: Picture): Actions {
  const { choices, choose } = model;
  const robustAgain = () => (choices.peek().held ? { limits: null, held: false } : {});

  function show(span: Span): void {
    const bounds = picture.bounds.peek();
    if (!bounds) return;
    const inside = clampSpan(span, bounds);
    const atEnd = inside.to >= bounds.to;
    const whole = atEnd && inside.from <= bounds.from;
    const follow = choices.peek().follow && atEnd;
    choose({ window: whole && follow ? null : inside, follow, ...(!follow && holdCursor()) });
  }

  /** Without follow latest, a cursor on the last step stays on that step when newer ones come. */
  function holdCursor() {
    return { step: model.cursor.peek() };
  }

  /** As if nothing had been zoomed: a cursor on the last step goes along again too. */
  function wholeRun() {
    const isLast = model.cursor.peek() === model.scope.peek()?.steps.last;
    return { window: null, follow: true, ...(isLast && { step: null }) };
  }

  function moveTo(step: number): void {
    const steps = model.steps.answer.peek()?.value.steps;
    if (!steps?.length) return;
    const index = nearest(steps, step);
    const isLast = index === steps.length - 1;
    choose({ step: isLast && choices.peek().follow ? null : steps[index]! });
  }

  return {
    chooseRun(run) {
      if (run !== choices.peek().run) choose({ run, ...AS_IT_STANDS, ...wholeRun(), ...robustAgain() });
    },
    chooseScope: (scope) => choose({ scope, ...AS_IT_STANDS, ...robustAgain() }),
    showUntil: (until) => choose({ until }),
    setShift: (shift) => choose({ shift, ...wholeRun() }),
    chooseStatistic: (statistic) => choose({ statistic, limits: null, held: false }),
    setLimits: (limits) => choose({ limits, held: false }),
    setFilter: (filter) => choose({ filter }),
    setFollow(on) {
      if (on) choose({ follow: true });
      else choose({ follow: false, window: picture.view.peek(), ...holdCursor() });
    },
    show,
    zoomSteps(factor, at) {
      const [view, bounds] = [picture.view.peek(), picture.bounds.peek()];
      if (view && bounds) show(zoomSpan(view, factor, at, bounds));
    },
    pan(steps) {
      const [view, bounds] = [picture.view.peek(), picture.bounds.peek()];
      if (view && bounds) show(panSpan(view, steps, bounds));
    },
    reset: () => choose({ ...wholeRun(), row: null }),
    moveTo,
    moveBy(samples) {
      const steps = model.steps.answer.peek()?.value.steps;
      const cursor = model.cursor.peek();
      if (!steps?.length || cursor === null) return;
      const index = nearest(steps, cursor) + samples;
      moveTo(steps[Math.min(steps.length - 1, Math.max(0, index))]!);
    },
    toggleFold(path) {
      const folds = new Set(choices.peek().folds);
      if (!folds.delete(path)) folds.add(path);
      choose({ folds });
    },
    foldAll() {
      const tops = model.tree.peek().tops.filter((top) => top.foldable);
      choose({ folds: new Set(tops.map((top) => top.path)) });
    },
    unfoldAll: () => choose({ folds: new Set() }),
    fitRows: () => choose({ row: null }),
    growRows(by) {
      const now = choices.peek().row ?? picture.layout.peek()?.row;
      if (now !== undefined) choose({ row: Math.min(HIGHEST_ROW_PX, Math.max(1, Math.round(now + by))) });
    },
  };
}

const AS_IT_STANDS = { until: null, shift: false };

/** The step under a pixel of the cells. */
export function stepAt(picture: Picture, x: number): number | null {
  const [view, geo] = [picture.view.peek(), picture.geometry.peek()];
  return view && geo ? toStep(x, view, geo.w) : null;
}
