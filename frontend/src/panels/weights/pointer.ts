/** Where the pointer or the keyboard points, and what is asked about that place. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { atOrBefore } from "../../base/sorted.ts";
import { toPixel } from "../../base/span.ts";
import { type Fetched, fetched } from "../../host/fetched.ts";
import { getJson } from "../../host/request.ts";
import { rested } from "../../host/rested.ts";
import { stepAt } from "./actions.ts";
import { atPath, sameSubject, samplePath } from "./ask.ts";
import type { AtAnswer, CellNode, Cells, SampleAnswer } from "./contract.ts";
import { bandAt } from "./layout.ts";
import type { Model } from "./model.ts";
import type { Picture } from "./picture.ts";

/** A node of the picture at one of its cells. */
export interface Place {
  readonly node: number;
  readonly band: number;
  /** Of the cells' left edge, in CSS px; the middle of a band in the layout. */
  readonly x: number;
  readonly y: number;
  readonly cells: Cells;
  readonly cell: number;
  /** Of the last sample in the cell, or of the one that it repeats. */
  readonly step: number;
  /** Samples in the cell: their first and last step, and how many. */
  readonly inside: { readonly first: number; readonly last: number; readonly count: number } | null;
}

export interface Pointer {
  /** In CSS px of the cells: x from their left edge, y from the top of the layout. */
  readonly hover: Signal<{ readonly x: number; readonly y: number } | null>;
  /** Path of the node that the keyboard chose. */
  readonly selected: Signal<string | null>;
  readonly place: ReadonlySignal<Place | null>;
  /** Of every tensor at the cursor, and at the place pointed at where that is a folded module. */
  readonly atCursor: Fetched<AtAnswer>;
  readonly atPlace: Fetched<AtAnswer>;
  /** Every statistic of the tensor pointed at. */
  readonly sample: Fetched<SampleAnswer>;
}

const REST_MS = 40;

export function createPointer(model: Model, picture: Picture): Pointer {
  const hover = signal<{ x: number; y: number } | null>(null);
  const selected = signal<string | null>(null);

  const place = computed((): Place | null => {
    const { layout, view, geometry, nodes } = picture;
    if (!layout.value || !view.value || !geometry.value) return null;
    let x: number;
    let band: number;
    if (hover.value) {
      x = hover.value.x;
      band = bandAt(layout.value, hover.value.y);
    } else if (selected.value !== null && model.cursor.value !== null) {
      x = toPixel(model.cursor.value, view.value, geometry.value.w) + 0.5;
      band = layout.value.bands.findIndex(({ node }) => nodes.value[node]?.path === selected.value);
    } else return null;
    const at = layout.value.bands[band];
    const step = stepAt(picture, x);
    if (!at || step === null || x < 0 || x > geometry.value.w) return null;
    const found = cellAt([picture.cells.answer.value?.value, picture.overview.value], step);
    if (!found) return null;
    const steps = model.steps.answer.value?.value.steps ?? [];
    const { cells, cell } = found;
    const first = atOrBefore(steps, cells.edges[cell]! - 1e-9) + 1;
    const last = atOrBefore(steps, cells.edges[cell + 1]! - 1e-9);
    const inside =
      first <= last ? { first: steps[first]!, last: steps[last]!, count: last - first + 1 } : null;
    return {
      node: at.node,
      band,
      x,
      y: at.y + at.h / 2,
      cells,
      cell,
      step: inside?.last ?? steps[last] ?? Math.floor(step),
      inside,
    };
  });

  const subject = computed(() => {
    const [scope, column, run] = [model.scope.value, model.column.value, model.info.answer.value?.value.run];
    const history = model.history.value;
    return scope && column && run !== undefined
      ? { run, scope: scope.name, column: column.name, history }
      : null;
  });
  const cursorKey = computed(() => {
    if (!subject.value || model.cursor.value === null) return null;
    return `${atPath(subject.value, model.cursor.value)}#${model.generation.value}`;
  });

  const resting = rested(
    computed(() => {
      const at = place.value;
      const node: CellNode | undefined = at ? picture.nodes.value[at.node] : undefined;
      if (!at || !node || !subject.value) return null;
      return node.leaf ? samplePath(subject.value, node.path, at.step) : atPath(subject.value, at.step);
    }),
    REST_MS,
  );
  const atCursor = fetched<AtAnswer>(cursorKey, getJson, sameSubject);
  model.keepAsking(atCursor);
  const only = (route: string) => computed(() => (resting.value?.startsWith(route) ? resting.value : null));
  return {
    hover,
    selected,
    place,
    atCursor,
    atPlace: fetched<AtAnswer>(only("at?"), getJson, () => false),
    sample: fetched<SampleAnswer>(only("sample?"), getJson, () => false),
  };
}

function cellAt(answers: readonly (Cells | null | undefined)[], step: number) {
  for (const cells of answers) {
    if (!cells) continue;
    const cell = atOrBefore(cells.edges, step);
    if (cell >= 0 && cell < cells.edges.length - 1) return { cells, cell };
  }
  return null;
}
