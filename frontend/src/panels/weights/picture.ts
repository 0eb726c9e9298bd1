/** What the picture shows: the question for its cells, their answers, and the layout, colours and window they give. */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { latestSpan, overlaps, type Span } from "../../base/span.ts";
import { type Fetched, fetched } from "../../host/fetched.ts";
import { getColumns } from "../../host/request.ts";
import { rested } from "../../host/rested.ts";
import { theme } from "../../host/theme.ts";
import { cellsPath, numbered, outlived, samePast, sameSubject } from "./ask.ts";
import type { Choices } from "./choices.ts";
import { encodeCells, MARK, spikeReach } from "./codes.ts";
import { type CellNode, type Cells, parseCells } from "./contract.ts";
import { type Frame, type Geometry, geometry } from "./geometry.ts";
import { type Layout, layoutRows, mostNodes } from "./layout.ts";
import { type ColourAxis, colourAxis, limitsOf } from "./limits.ts";
import { type Model, patternOf } from "./model.ts";
import type { Scene } from "./paint.ts";
import { type Palette, palette } from "./palette.ts";
import { type Coded, pictureCodes } from "./strata.ts";

export interface Picture {
  /** Size of the picture's frame; null until it is on the page. */
  readonly frame: Signal<Frame | null>;
  readonly slim: Signal<boolean>;
  readonly geometry: ReadonlySignal<Geometry | null>;
  readonly cells: Fetched<Cells>;
  /** The whole run, coarser: what a pan shows before its answer comes. */
  readonly overview: ReadonlySignal<Cells | null>;
  readonly nodes: ReadonlySignal<readonly CellNode[]>;
  readonly layout: ReadonlySignal<Layout | null>;
  /** Rows that pass the filter, and all; null without a filter. */
  readonly filtered: ReadonlySignal<{ readonly shown: number; readonly of: number } | null>;
  readonly axis: ReadonlySignal<ColourAxis | null>;
  readonly ink: ReadonlySignal<Palette | null>;
  /** All steps there are. */
  readonly bounds: ReadonlySignal<Span | null>;
  /** The steps zoomed to; null: the whole run. */
  readonly asked: ReadonlySignal<Span | null>;
  /** The steps on screen. */
  readonly view: ReadonlySignal<Span | null>;
  /** An answer is on its way that the cells on screen do not show yet. */
  readonly stale: ReadonlySignal<boolean>;
  /** The cells on screen are those of the steps on screen. */
  readonly settled: ReadonlySignal<boolean>;
  /** In CSS px from the top of the layout. */
  readonly scroll: Signal<number>;
  readonly scene: ReadonlySignal<Scene | null>;
}

/** More rows than any answer may have: no folding to fit. */
const ALL_ROWS = 8192;
const REST_MS = 80;

export function createPicture(model: Model): Picture {
  const { choices } = model;
  const frame = signal<Frame | null>(null);
  const slim = signal(false);
  const scroll = signal(0);
  const geo = computed(() => (frame.value ? geometry(frame.value, slim.value) : null));
  // Each choice by itself, so that moving the cursor asks, codes and paints nothing.
  const part = <K extends keyof Choices>(name: K) => computed(() => choices.value[name]);
  const [filter, folds, row, window] = [part("filter"), part("folds"), part("row"), part("window")];
  const [follow, limits, held] = [part("follow"), part("limits"), part("held")];
  const pattern = computed(() => patternOf(filter.value));

  const question = computed(() => {
    const scope = model.scope.value;
    const column = model.column.value;
    const run = model.info.answer.value?.value.run;
    if (!scope || !column || run === undefined || !geo.value) return null;
    const open = pattern.value !== null || row.value !== null;
    const fits = mostNodes(model.tree.value, folds.value, geo.value.h);
    return {
      run,
      scope: scope.name,
      column: column.name,
      history: model.history.value,
      width: Math.round(geo.value.w * geo.value.ratio),
      height: open ? ALL_ROWS : Math.min(fits, scope.rows.length),
      rows: scope.rows.length,
      folds: pattern.value ? [] : [...folds.value].sort(),
    };
  });

  const full = signal<{ readonly key: string; readonly cells: Cells } | null>(null);
  const fullKey = computed(() => question.value && cellsPath({ ...question.value, span: null }));
  const bounds = computed(() => {
    const scope = model.scope.value;
    return scope ? { from: scope.steps.first, to: Math.max(scope.end, scope.steps.first + 1) } : null;
  });
  const asked = computed(() => {
    // A window on steps that are not there would show nothing. It is kept: they come while a run is being read.
    if (!window.value || !bounds.value || !overlaps(window.value, bounds.value)) return null;
    return follow.value ? latestSpan(window.value, bounds.value) : window.value;
  });

  const ask = (key: ReadonlySignal<string | null>) => {
    const number = numbered();
    return fetched(
      key,
      async (wanted, abort) => parseCells(await getColumns(number(wanted), abort)),
      sameSubject,
      outlived,
    );
  };
  /** Not for every step of a drag or a wheel: what is at hand is drawn meanwhile. */
  const settled = rested(asked, REST_MS);
  const keyOf = (span: Span | null) =>
    question.value &&
    `${cellsPath({ ...question.value, span })}#${model.runs.value?.server} ${model.generation.value}`;
  const cellsKey = computed(() => keyOf(settled.value));
  const cells = ask(cellsKey);
  const overviewKey = computed(() => {
    const wanted = asked.value && fullKey.value;
    return wanted && full.value?.key !== wanted ? wanted : null;
  });
  const overview = ask(overviewKey);
  model.keepAsking(cells, overview);
  effect(() => {
    for (const answer of [cells.answer.value, overview.answer.value]) {
      const path = answer?.key.split("#")[0];
      if (answer && path === fullKey.value) full.value = { key: path!, cells: answer.value };
    }
    if (full.value && fullKey.value && !samePast(full.value.key, fullKey.value)) full.value = null;
  });

  const shown = computed(() => cells.answer.value?.value ?? null);
  const behind = computed(() => {
    const coarse = full.value?.cells;
    return coarse && shown.value && coarse !== shown.value && sameNodes(coarse.nodes, shown.value.nodes)
      ? coarse
      : null;
  });

  const axis = computed((): ColourAxis | null => {
    const column = model.column.value;
    if (!column || !shown.value || shown.value.column !== column.name) return null;
    return colourAxis(column, shown.value.quantiles, limits.value);
  });
  effect(() => {
    // Without follow latest, new data moves no colour: the robust limits of this moment are held.
    if (!follow.value && !limits.value && axis.value)
      model.choose({ limits: limitsOf(axis.value), held: true });
    if (follow.value && held.value) model.choose({ limits: null, held: false });
  });

  // The same nodes are the same layout and the same names on the page, however often cells come.
  let before: readonly CellNode[] = [];
  const nodes = computed(() => {
    const now = shown.value?.nodes ?? [];
    if (!sameNodes(now, before)) before = now;
    return before;
  });
  const filtered = computed(() => {
    if (!pattern.value) return null;
    const leaves = nodes.value.filter((node) => node.leaf);
    return { shown: leaves.filter((node) => pattern.value!.test(node.path)).length, of: leaves.length };
  });
  const hasCells = computed(() => shown.value !== null);
  const layoutHeight = computed(() => geo.value?.h ?? 0);
  const layout = computed(() => {
    if (!hasCells.value || !layoutHeight.value) return null;
    const indices = [...nodes.value.keys()].filter((k) => pattern.value?.test(nodes.value[k]!.path) ?? true);
    return layoutRows(nodes.value, indices, model.tree.value, layoutHeight.value, row.value);
  });

  const view = computed(
    () => asked.value ?? (shown.value ? { from: shown.value.from, to: shown.value.to } : null),
  );
  const ink = computed(() => (axis.value ? palette(theme.value, axis.value.scale) : null));
  const sources = computed(() => {
    const colours = axis.value;
    if (!colours || !shown.value) return [];
    return [shown.value, behind.value].flatMap((each) => (each ? [coded(each, colours)] : []));
  });
  const scene = computed((): Scene | null => {
    if (!layout.value || !view.value || !ink.value || !axis.value) return null;
    const reading = model.summary.value?.state === "reading";
    return {
      span: view.value,
      sources: sources.value,
      bands: layout.value.bands,
      scroll: scroll.value,
      ink: ink.value,
      reach: spikeReach(axis.value),
      outside: reading ? MARK.UNREAD : MARK.NOTHING,
    };
  });

  return {
    frame,
    slim,
    geometry: geo,
    cells,
    overview: behind,
    nodes,
    layout,
    filtered,
    axis,
    ink,
    bounds,
    asked,
    view,
    stale: computed(() => cells.answer.value?.key !== cellsKey.value),
    settled: computed(() => cells.answer.value?.key === keyOf(asked.value)),
    scroll,
    scene,
  };
}

/** The last coding of each answer: new limits code it again, a new window does not. */
const codings = new WeakMap<Cells, { readonly axis: ColourAxis; readonly coded: Coded }>();

function coded(cells: Cells, axis: ColourAxis): Coded {
  const known = codings.get(cells);
  if (
    known &&
    known.axis.low === axis.low &&
    known.axis.high === axis.high &&
    known.axis.centre === axis.centre
  )
    return known.coded;
  const fresh = pictureCodes(cells, encodeCells(cells, axis), spikeReach(axis));
  codings.set(cells, { axis, coded: fresh });
  return fresh;
}

function sameNodes(a: readonly CellNode[], b: readonly CellNode[]): boolean {
  const same = (one: CellNode, other: CellNode) =>
    one.path === other.path && one.leaf === other.leaf && one.folded_to_fit === other.folded_to_fit;
  return a.length === b.length && a.every((node, k) => same(node, b[k]!));
}
