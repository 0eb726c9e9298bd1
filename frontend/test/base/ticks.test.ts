import assert from "node:assert/strict";
import { test } from "node:test";
import { toPixel } from "../../src/base/span.ts";
import { linearTicks, niceDistance, stepTicks } from "../../src/base/ticks.ts";
import { between, seeded, whole } from "../random.ts";

test("the axis of the design's picture", () => {
  assert.deepEqual(stepTicks({ from: 0, to: 24_000 }, 852), [0, 4000, 8000, 12_000, 16_000, 20_000, 24_000]);
});

test("ticks are whole steps in the window, equally far apart and never closer than asked", () => {
  const random = seeded(4);
  for (let round = 0; round < 500; round++) {
    const from = whole(random, 0, 1e6);
    const span = { from, to: from + between(random, 2, 1e6) };
    const px = between(random, 150, 3000);
    const ticks = stepTicks(span, px);
    for (const tick of ticks) assert.ok(Number.isInteger(tick) && tick >= span.from && tick <= span.to);
    const distances = new Set(ticks.slice(1).map((tick, k) => tick - ticks[k]!));
    assert.ok(distances.size <= 1);
    for (const distance of distances) assert.ok(toPixel(span.from + distance, span, px) >= 110 - 1e-6);
  }
});

test("a wide window has at least two ticks", () => {
  const random = seeded(5);
  for (let round = 0; round < 200; round++) {
    const from = whole(random, 0, 1e6);
    assert.ok(stepTicks({ from, to: from + between(random, 20, 1e6) }, 852).length >= 2);
  }
});

test("round distances", () => {
  for (const [distance, nice] of [
    [1, 1],
    [1.01, 2],
    [3, 4],
    [4.5, 5],
    [7, 8],
    [9, 10],
    [0.03, 0.04],
    [1000, 1000],
  ] as const)
    assert.ok(Math.abs(niceDistance(distance) - nice) < 1e-9, `${distance}`);
});

test("ticks of a plain scale include its round ends", () => {
  const ticks = linearTicks(-1, 1, 4);
  assert.equal(ticks[0], -1);
  assert.ok(Math.abs(ticks.at(-1)! - 1) < 1e-9);
  assert.equal(ticks.length, 5);
});
