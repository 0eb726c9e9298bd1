import assert from "node:assert/strict";
import { test } from "node:test";
import { atOrBefore, median, nearest } from "../../src/base/sorted.ts";
import { between, seeded, whole } from "../random.ts";

test("finds the entry at or before, and the nearest, as a search from the front does", () => {
  const random = seeded(6);
  for (let round = 0; round < 300; round++) {
    const rising = Float64Array.from({ length: whole(random, 0, 12) }, () => whole(random, 0, 30)).sort();
    const value = between(random, -3, 33);
    let before = -1;
    let best = -1;
    rising.forEach((entry, k) => {
      if (entry <= value) before = k;
      if (best < 0 || Math.abs(entry - value) < Math.abs(rising[best]! - value)) best = k;
    });
    assert.equal(atOrBefore(rising, value), before);
    const found = nearest(rising, value);
    assert.equal(found < 0 ? -1 : rising[found], best < 0 ? -1 : rising[best]);
  }
});

test("the ends of time are the first and the last entry", () => {
  assert.equal(nearest([2, 5, 9], -Infinity), 0);
  assert.equal(nearest([2, 5, 9], Infinity), 2);
});

test("the median of an even number lies between the two in the middle", () => {
  assert.equal(median([9, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.ok(Number.isNaN(median([])));
});
