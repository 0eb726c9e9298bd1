import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColumnInfo, Distribution } from "../../../src/panels/weights/contract.ts";
import { barPlace, histogram, legendKeys, legendTicks } from "../../../src/panels/weights/legend.ts";
import { type ColourAxis, colourAxis } from "../../../src/panels/weights/limits.ts";
import { palette } from "../../../src/panels/weights/palette.ts";
import { seeded, whole } from "../../random.ts";

const RATIO: ColumnInfo = {
  name: "update_ratio",
  label: "Update ratio",
  unit: "",
  scale: "log",
  healthy: 1e-3,
};
const COSINE: ColumnInfo = {
  name: "update_cosine",
  label: "Update cosine",
  unit: "",
  scale: "linear",
  healthy: null,
};
const AXIS: ColourAxis = { log: true, low: -5, high: -1, centre: -3, scale: "diverging" };
const INK = palette("light", "diverging");

function distribution(more: Partial<Distribution> = {}): Distribution {
  const counts = new Array(360).fill(0);
  return { low: -12, high: 6, counts, zeros: 0, nan: 0, pinf: 0, ninf: 0, missing: 0, ...more };
}

/** Bin of log10 = `exponent`. */
const bin = (exponent: number) => Math.floor((exponent + 12) * 20);

test("values stand over their colour", () => {
  const counts = new Array(360).fill(0);
  counts[bin(-3.02)] = 100;
  counts[bin(-1.98)] = 25;
  const heights = histogram(distribution({ counts }), AXIS, 80); // a bin of the bar is one of the distribution
  assert.ok(Math.abs(heights[39]! - 1) < 1e-6);
  assert.ok(Math.abs(heights[60]! - 0.5) < 1e-6, "heights are square roots");
  assert.equal(heights.filter((height) => height > 1e-6).length, 2);
});

test("no value is lost, and the ends collect what lies outside", () => {
  const random = seeded(17);
  for (let round = 0; round < 50; round++) {
    const counts = Array.from({ length: 360 }, () => whole(random, 0, 50));
    const bins = whole(random, 20, 200);
    const heights = histogram(distribution({ counts }), AXIS, bins);
    const squares = heights.slice(1, -1).map((height) => height ** 2);
    const fullest = Math.max(...squares);
    assert.ok(Math.abs(fullest - 1) < 1e-9);
    const inside = counts.slice(bin(-5) + 1, bin(-1)).reduce((sum, count) => sum + count, 0);
    const scale = squares.reduce((sum, square) => sum + square, 0) / inside;
    assert.ok(scale > 0.9 / (inside * fullest * 2) && heights[0]! > 0 && heights.at(-1)! > 0);
  }
});

test("zeros stand at the low end, cut, and do not flatten the rest", () => {
  const counts = new Array(360).fill(0);
  counts[bin(-3.02)] = 10;
  const heights = histogram(distribution({ counts, zeros: 1e6 }), AXIS, 80);
  assert.equal(heights[0], 1);
  assert.equal(heights[39], 1);
});

test("nothing but zeros, or nothing at all, is drawn as that", () => {
  assert.equal(histogram(distribution({ zeros: 5 }), AXIS, 80)[0], 1);
  assert.ok(histogram(distribution(), AXIS, 80).every((height) => height === 0));
});

test("ticks stand at decades, the ends say that they collect", () => {
  assert.deepEqual(
    legendTicks(AXIS, RATIO, 380).map((tick) => tick.text),
    ["≤ 1e−5", "1e−4", "1e−3", "1e−2", "≥ 1e−1"],
  );
});

test("ticks that would touch are left out, the centre last", () => {
  for (const [axis, column] of [
    [{ ...AXIS, low: -11, high: 5 }, RATIO],
    [colourAxis(COSINE, { p1: -0.6, p50: 0, p99: 0.6 }, null), COSINE],
  ] as const)
    for (const width of [120, 300, 380]) {
      const ticks = legendTicks(axis, column, width);
      if (axis.log && width >= 300) assert.ok(ticks.some((tick) => tick.text === "1e−3"));
      let free = 0;
      for (const { at, text, align } of ticks) {
        const wide = text.length * 6.6;
        const left = at * width - (align === "left" ? 0 : align === "right" ? wide : wide / 2);
        assert.ok(left >= free, `${text} at ${width} px`);
        free = left + wide;
      }
    }
});

test("an end between decades is written as the statistic is", () => {
  const ticks = legendTicks({ ...AXIS, low: -5.5, high: -0.5 }, RATIO, 380);
  assert.equal(ticks[0]!.text, "≤ 3.16e−6");
  const plain = legendTicks(colourAxis(COSINE, { p1: -0.9, p50: 0, p99: 0.9 }, null), COSINE, 380);
  assert.equal(plain[0]!.text, "≤ −1.000");
});

test("marks have exact counts; those that matter are there at 0 too", () => {
  const keys = legendKeys(
    distribution({ nan: 327, pinf: 69, ninf: 1, missing: 1, zeros: 12_400 }),
    AXIS,
    INK,
    true,
    false,
  );
  assert.deepEqual(
    keys.map(({ text, count, unit }) => [text, count, unit].filter(Boolean).join(" ")),
    [
      "NaN 327 cells",
      "±Inf 70 cells",
      "not recorded 1 cell",
      "exactly 0 12,400 cells",
      "folded: largest, median, least",
    ],
  );
  assert.deepEqual(
    legendKeys(distribution({ ninf: 2 }), AXIS, INK, false, false).map((key) => `${key.text} ${key.count}`),
    ["NaN 0", "−Inf 2", "not recorded 0"],
  );
  assert.deepEqual(
    legendKeys(distribution({ missing: 5 }), AXIS, INK, true, true).map(({ text, count, unit }) => [
      text,
      count,
      unit,
    ]),
    [
      ["NaN", "0", undefined],
      ["+Inf", "0", undefined],
      ["not recorded", "5", undefined],
      ["folded", undefined, undefined],
    ],
    "brief where there is little room",
  );
});

test("on a plain scale 0 has a colour of its own, and needs no key", () => {
  const plain = colourAxis(COSINE, { p1: -0.9, p50: 0, p99: 0.9 }, null);
  assert.ok(
    !legendKeys(distribution({ zeros: 3 }), plain, INK, false, false).some((key) => key.id === "zero"),
  );
});

test("the hovered value has a place on the bar, also beyond its ends", () => {
  assert.equal(barPlace(AXIS, 1e-3), 0.5);
  assert.equal(barPlace(AXIS, 1e9), 1);
  assert.equal(barPlace(AXIS, 0), 0);
  assert.equal(barPlace(AXIS, Number.NaN), null);
  assert.equal(barPlace(AXIS, undefined), null);
});
