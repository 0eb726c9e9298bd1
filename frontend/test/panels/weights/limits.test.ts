import assert from "node:assert/strict";
import { test } from "node:test";
import type { ColumnInfo } from "../../../src/panels/weights/contract.ts";
import { colourAxis, fraction, limitsOf } from "../../../src/panels/weights/limits.ts";
import { typed, validLimits } from "../../../src/panels/weights/limits-form.tsx";
import { between, seeded } from "../../random.ts";

export const RATIO: ColumnInfo = {
  name: "update_ratio",
  label: "Update ratio",
  unit: "update norm / weight norm",
  scale: "log",
  healthy: 1e-3,
};
const NORM: ColumnInfo = { name: "weight_norm", label: "Weight norm", unit: "", scale: "log", healthy: null };
const MEAN: ColumnInfo = {
  name: "weight_mean",
  label: "Weight mean",
  unit: "",
  scale: "linear",
  healthy: null,
};

const quantiles = (p1: number | null, p99: number | null) => ({ p1, p50: p1, p99 });
const close = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a} ${b}`);

test("robust limits of a ratio are symmetric about the healthy value, in half decades, around p1 and p99", () => {
  const random = seeded(10);
  for (let round = 0; round < 300; round++) {
    const [a, b] = [between(random, -8, 1), between(random, -8, 1)];
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const axis = colourAxis(RATIO, quantiles(10 ** low, 10 ** high), null);
    close(axis.centre!, -3);
    close(axis.centre! - axis.low, axis.high - axis.centre!);
    const reach = axis.high - axis.centre!;
    close(reach * 2, Math.round(reach * 2));
    const needed = Math.min(2, Math.max(Math.abs(low + 3), Math.abs(high + 3)));
    assert.ok(reach >= needed - 1e-6);
    assert.ok(reach - Math.max(needed, 0.5) < 0.5 + 1e-9, "not a half decade more than needed");
  }
});

test("the design's limits: 1e−5 to 1e−1", () => {
  const axis = colourAxis(RATIO, quantiles(1.3e-5, 2e-2), null);
  close(axis.low, -5);
  close(axis.high, -1);
  assert.equal(axis.scale, "diverging");
});

test("a run that diverges has no wider limits than two decades about the healthy value, typed ones are free", () => {
  const diverging = quantiles(3e-9, 3e2);
  const axis = colourAxis(RATIO, diverging, null);
  close(axis.low, -5);
  close(axis.high, -1);
  assert.ok(fraction(axis, 3e2) > 1 && fraction(axis, 3e-9) < 0, "the rest lies beyond the ends");
  close(colourAxis(RATIO, diverging, { low: 1e-9, high: 1e3 }).high, 3);
  close(colourAxis(NORM, diverging, null).high, 2.5);
});

test("a statistic without a healthy value spans its own half decades in one hue", () => {
  const axis = colourAxis(NORM, quantiles(0.4, 27), null);
  assert.equal(axis.scale, "magnitude");
  close(axis.low, -0.5);
  close(axis.high, 1.5);
});

test("a plain scale has round ends around the data", () => {
  const axis = colourAxis(MEAN, quantiles(-0.013, 0.044), null);
  assert.ok(axis.low <= -0.013 && axis.high >= 0.044 && axis.high - axis.low < 0.08);
  assert.equal(colourAxis(MEAN, quantiles(0.01, 0.9), null).low, 0, "what begins near 0 begins at 0");
});

test("nothing, or one value only, still makes a scale", () => {
  for (const column of [RATIO, NORM, MEAN])
    for (const of of [quantiles(null, null), quantiles(1e-3, 1e-3), quantiles(1, 1)]) {
      const axis = colourAxis(column, of, null);
      assert.ok(axis.low < axis.high, `${column.name} ${JSON.stringify(of)}`);
    }
  assert.ok(colourAxis(MEAN, quantiles(0, 0), null).high > 0);
});

test("limits set by hand are taken as they are, with the middle of the colours at the healthy value", () => {
  const axis = colourAxis(RATIO, quantiles(1e-5, 1e-1), { low: 1e-4, high: 1 });
  close(axis.low, -4);
  close(axis.high, 0);
  close(fraction(axis, 1e-3), 0.5);
  close(fraction(axis, 1e-4), 0);
  close(fraction(axis, 1), 1);
  close(fraction(axis, 10 ** -1.5), 0.75);
});

test("limits of an axis are the axis again", () => {
  for (const [column, low, high] of [
    [RATIO, 1e-5, 1e-1],
    [NORM, 0.3, 30],
    [MEAN, -0.02, 0.05],
  ] as const) {
    const axis = colourAxis(column, quantiles(low, high), null);
    const again = colourAxis(column, quantiles(null, null), limitsOf(axis));
    close(again.low, axis.low);
    close(again.high, axis.high);
  }
});

test("zero lies below every limit of a log scale", () => {
  assert.equal(fraction(colourAxis(RATIO, quantiles(1e-5, 1e-1), null), 0), -Infinity);
});

test("limits that cannot be drawn are not valid", () => {
  assert.ok(validLimits(RATIO, { low: 1e-5, high: 1e-1 }));
  assert.ok(!validLimits(RATIO, { low: 1e-2, high: 1e-1 }), "the healthy value lies outside");
  assert.ok(!validLimits(RATIO, { low: 0, high: 1 }), "no logarithm of 0");
  assert.ok(!validLimits(NORM, { low: 2, high: 1 }));
  assert.ok(!validLimits(NORM, { low: Number.NaN, high: 1 }));
  assert.ok(validLimits(MEAN, { low: -1, high: 0 }));
});

test("a limit is offered as one would type it, and read back as what it was", () => {
  for (const [value, text] of [
    [1e-5, "1e-5"],
    [3.16227766e-6, "3.16e-6"],
    [0.1, "0.1"],
    [31.6227766, "31.6"],
    [1e6, "1e6"],
    [-0.02, "-0.02"],
    [0, "0"],
  ] as const) {
    assert.equal(typed(value), text);
    assert.ok(Math.abs(Number(text) - value) <= Math.abs(value) * 0.005);
  }
});
