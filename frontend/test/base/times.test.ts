import assert from "node:assert/strict";
import { test } from "node:test";
import { moment } from "../../src/base/times.ts";

const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime() / 1000;

test("a moment is day and time, with the year where it is another one", () => {
  const now = at(2026, 10, 30, 12, 0) * 1000;
  assert.equal(moment(at(2026, 10, 30, 10, 41), now), "30 Nov, 10:41");
  assert.equal(moment(at(2026, 0, 3, 0, 5), now), "3 Jan, 00:05");
  assert.equal(moment(at(2019, 4, 3, 23, 59), now), "3 May 2019, 23:59");
});

test("what no calendar has is told as such", () => {
  for (const seconds of [Number.NaN, Infinity, 1e300]) assert.equal(moment(seconds), "at an unknown time");
});
