import assert from "node:assert/strict";
import { test } from "node:test";
import { SCALE_SIZE } from "../../../src/base/colour.ts";
import { codeOf, encodeCells, MARK, spikeReach } from "../../../src/panels/weights/codes.ts";
import { type ColourAxis, fraction } from "../../../src/panels/weights/limits.ts";
import { type CellInput, cellsOf, leaf, sample } from "../../answers.ts";
import { between, pick, seeded } from "../../random.ts";

const LOG: ColourAxis = { log: true, low: -5, high: -1, centre: -3, scale: "diverging" };
const LINEAR: ColourAxis = { log: false, low: -1, high: 1, centre: null, scale: "magnitude" };

const codes = (axis: ColourAxis, ...cells: CellInput[]) => [
  ...encodeCells(cellsOf([leaf("a")], [cells]), axis),
];

/** The rule as the design says it, one cell at a time. */
function slowCode(axis: ColourAxis, cell: CellInput): number {
  if (cell.nan) return MARK.NAN;
  if (cell.pinf || cell.ninf) return MARK.INF;
  if (cell.min === undefined) return cell.missing ? MARK.MISSING : MARK.NOTHING;
  const place = (value: number) => {
    const share = fraction(axis, value);
    return Math.min(SCALE_SIZE - 1, Math.max(0, Math.round(share * (SCALE_SIZE - 1))));
  };
  if (axis.log && cell.max === 0) return 0;
  const mean = axis.log ? 10 ** cell.mean! : cell.mean!;
  const decades = (value: number) => Math.abs(Math.log10(value) - Math.log10(mean));
  const far = (value: number) =>
    axis.log ? decades(value) > 0.5 : Math.abs(value - mean) > (axis.high - axis.low) / 8;
  if (far(cell.max!)) return place(cell.max!);
  if (far(cell.min)) return place(cell.min);
  return place(mean);
}

test("cells are coded by the design's rule", () => {
  const random = seeded(11);
  for (let round = 0; round < 2000; round++) {
    const axis = pick(random, [LOG, LINEAR]);
    const values = Array.from({ length: pick(random, [1, 1, 2, 5]) }, () =>
      axis.log ? 10 ** between(random, -7, 1) : between(random, -1.5, 1.5),
    );
    const scaled = axis.log ? values.map(Math.log10) : values;
    const cell: CellInput = {
      mean: Math.fround(scaled.reduce((sum, value) => sum + value, 0) / values.length),
      min: Math.fround(Math.min(...values)),
      max: Math.fround(Math.max(...values)),
    };
    const marked: CellInput = pick(random, [
      cell,
      cell,
      cell,
      { ...cell, nan: 1 },
      { ...cell, ninf: 2 },
      { missing: 3 },
      {},
      { ...cell, missing: 1 },
    ]);
    const [fast] = codes(axis, marked);
    assert.ok(Math.abs(fast! - slowCode(axis, marked)) <= 1, JSON.stringify(marked)); // float32 rounds at the edge
  }
});

test("a spike among a hundred calm samples is shown, and so is a freeze", () => {
  const calm = { mean: -3, min: 9e-4, max: 1.1e-3 };
  const [mean, spike, freeze] = codes(LOG, calm, { ...calm, max: 0.05 }, { ...calm, min: 0 });
  assert.equal(mean, codeOf(LOG, 1e-3));
  assert.equal(spike, codeOf(LOG, Math.fround(0.05)));
  assert.equal(freeze, 0);
});

test("exactly 0 takes the lowest colour on a log scale and its own place on a plain one", () => {
  assert.deepEqual(codes(LOG, sample(0)), [0]);
  assert.deepEqual(codes(LINEAR, { mean: 0, min: 0, max: 0, zeros: 1 }), [256]);
});

test("NaN comes before Inf, Inf before values, values before what was not recorded", () => {
  const value = sample(1e-3);
  assert.deepEqual(
    codes(LOG, { ...value, nan: 1, pinf: 1 }, { ...value, pinf: 1 }, { ...value, missing: 4 }),
    [MARK.NAN, MARK.INF, codeOf(LOG, 1e-3)],
  );
  assert.ok(MARK.NAN > MARK.INF && MARK.INF > MARK.MISSING && MARK.MISSING > MARK.NOTHING);
});

test("limits clip to the ends of the scale", () => {
  assert.equal(codeOf(LOG, 1e-9), 0);
  assert.equal(codeOf(LOG, 10), SCALE_SIZE - 1);
  assert.equal(codeOf(LOG, Number.NaN), MARK.NAN);
  assert.equal(codeOf(LOG, -Infinity), MARK.INF);
});

test("half a decade is an eighth of four", () => {
  assert.equal(spikeReach(LOG), SCALE_SIZE / 8);
  assert.equal(spikeReach(LINEAR), SCALE_SIZE / 8);
});
