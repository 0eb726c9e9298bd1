import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellNode, Cells, ColumnInfo, RowInfo } from "../../../src/panels/weights/contract.ts";
import type { ColourAxis } from "../../../src/panels/weights/limits.ts";
import { palette } from "../../../src/panels/weights/palette.ts";
import { cellText, type ReadInput, readCell } from "../../../src/panels/weights/read.ts";
import { type CellInput, cellsOf, leaf, sample } from "../../answers.ts";

const RATIO: ColumnInfo = {
  name: "update_ratio",
  label: "Update ratio",
  unit: "",
  scale: "log",
  healthy: 1e-3,
};
const NORM: ColumnInfo = { name: "weight_norm", label: "Weight norm", unit: "", scale: "log", healthy: null };
const GRADIENT: ColumnInfo = { ...NORM, name: "gradient_norm", label: "Gradient norm" };
const AXIS: ColourAxis = { log: true, low: -5, high: -1, centre: -3, scale: "diverging" };
const ROW: RowInfo = {
  name: "layer3.4.conv2.weight",
  class: "Conv2d",
  module: "layer3.4.conv2",
  shape: [256, 256, 3, 3],
  dtype: "float32",
  trainable: true,
};

function input(cells: Cells, more: Partial<ReadInput> = {}): ReadInput {
  return {
    cells,
    cell: 0,
    node: 0,
    column: RATIO,
    columns: [NORM, GRADIENT, RATIO],
    rows: [ROW],
    axis: AXIS,
    ink: palette("light", "diverging"),
    inside: { first: 17_340, last: 17_340, count: 1 },
    step: 17_340,
    sample: null,
    at: null,
    ...more,
  };
}

const lines = (content: ReturnType<typeof readCell>) =>
  content.lines.map((line) => `${line.label}: ${line.value}`);
const one = (cell: CellInput) => cellsOf([leaf(ROW.name)], [[cell]]);

test("a tensor: what it is, its value, what stands beside it, and the step", () => {
  const values = { weight_norm: 26.72, gradient_norm: 1.39e-5, update_ratio: 3.34e-6 };
  const content = readCell(
    input(one(sample(3.34e-6)), { sample: { step: 17_340, next_step: null, values, status: 1 } }),
  );
  assert.equal(content.title, "layer3.4.conv2.weight");
  assert.equal(content.sub, "Conv2d, 256×256×3×3, float32");
  assert.deepEqual(lines(content), [
    "update ratio: 3.34e−6",
    "weight norm: 26.72",
    "gradient norm: 1.39e−5",
    "step: 17,340",
  ]);
  assert.match(content.lines[0]!.chip!, /^rgb\(/);
});

test("several samples in the pixel: their mean, smallest and largest", () => {
  const cell = { mean: -3, min: 1e-4, max: 1e-2, count: 2 };
  const content = readCell(input(one(cell), { inside: { first: 17_340, last: 17_360, count: 2 } }));
  assert.deepEqual(lines(content), [
    "update ratio: 1.00e−3",
    "smallest, largest: 1.00e−4, 1.00e−2",
    "weight norm: …",
    "gradient norm: …",
    "2 steps here: 17,340 to 17,360",
  ]);
});

test("a pixel that only repeats says which sample", () => {
  const content = readCell(input(one({ ...sample(1e-3), count: 0 }), { inside: null, step: 17_320 }));
  assert.equal(lines(content).at(-1), "sample before: 17,320");
});

test("0, NaN and nothing say so, and why", () => {
  const text = (cell: CellInput, more = {}) => lines(readCell(input(one(cell), more)));
  assert.deepEqual(text({ ...sample(0), status: 1 | 4 }).slice(0, 2), ["update ratio: 0", "why: frozen"]);
  assert.deepEqual(text({ ...sample(0), status: 1 | 32 }).slice(0, 2), [
    "update ratio: 0",
    "why: update skipped",
  ]);
  const broken = readCell(
    input(one({ ...sample(1e-3), nan: 1, count: 3 }), { inside: { first: 0, last: 40, count: 3 } }),
  );
  assert.deepEqual(lines(broken).slice(0, 3), [
    "update ratio: NaN",
    "smallest, largest: 1.00e−3, 1.00e−3",
    "NaN in: 1 of 3 samples",
  ]);
  assert.equal(broken.lines[0]!.tone, "nan");
  assert.deepEqual(text({ missing: 1, status: 64 }).slice(0, 2), [
    "update ratio: not recorded",
    "why: unused in the backward pass",
  ]);
  assert.deepEqual(text({ missing: 1, status: 8 }).slice(0, 2), [
    "update ratio: not recorded",
    "why: the weight norm is 0",
  ]);
});

test("a folded module: its largest, median and smallest tensor by name, and the broken ones", () => {
  const node: CellNode = { path: "layer1", leaf: false, leaves: 3, folded_to_fit: false };
  const strata = (["fold", "smallest", "median", "largest"] as const).map((stratum) => ({
    node: 0,
    stratum,
  }));
  const cells = cellsOf(
    [node],
    [[{ ...sample(2e-3), nan: 1 }], [sample(1e-4)], [sample(1e-3)], [{ ...sample(1e-2), nan: 1 }]],
    { strata },
  );
  const rows = ["layer1.a", "layer1.b", "layer1.c", "layer10.x"].map((name) => ({ ...ROW, name }));
  const at = { step: 0, values: [1e-2, "NaN" as const, 1e-4, 99], status: [1, 1, 1, 1] };
  const content = readCell(input(cells, { rows, at }));
  assert.equal(content.sub, "3 tensors folded, update ratio");
  assert.deepEqual(lines(content), [
    "largest: a: 1.00e−2",
    "median: 1.00e−3",
    "smallest: c: 1.00e−4",
    "as one: 2.00e−3",
    "NaN: b",
    "step: 17,340",
  ]);
});

test("the words of a cell", () => {
  const text = (cell: CellInput, column = RATIO) => cellText(one(cell), 0, 0, column);
  assert.equal(text(sample(Number.NaN)), "NaN");
  assert.equal(text(sample(Infinity)), "+Inf");
  assert.equal(text(sample(-Infinity)), "−Inf");
  assert.equal(text({ pinf: 1, ninf: 1 }), "±Inf");
  assert.equal(text({ missing: 1 }), "not recorded");
  assert.equal(text(sample(0)), "0");
  assert.equal(text(sample(26.72), NORM), "26.72");
});
