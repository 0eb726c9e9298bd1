import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clampSpan,
  latestSpan,
  panSpan,
  type Span,
  toPixel,
  toStep,
  width,
  zoomSpan,
} from "../../src/base/span.ts";
import { between, seeded } from "../random.ts";

const BOUNDS: Span = { from: 100, to: 10_100 };
const inside = (span: Span) =>
  span.from >= BOUNDS.from - 1e-6 && span.to <= BOUNDS.to + 1e-6 && span.from < span.to;
const close = (a: number, b: number) =>
  assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} ${b}`);

test("zooming in keeps the step under the pointer where it is", () => {
  const random = seeded(2);
  for (let round = 0; round < 500; round++) {
    const from = between(random, 100, 9000);
    const span = { from, to: from + between(random, 50, 1000) };
    const x = between(random, 0, 800);
    const at = toStep(x, span, 800);
    const zoomed = zoomSpan(span, between(random, 0.1, 1), at, BOUNDS);
    close(toPixel(at, zoomed, 800), x);
    assert.ok(inside(zoomed));
  }
});

test("zooming out again comes back, away from the ends", () => {
  const span = { from: 4000, to: 5000 };
  const back = zoomSpan(zoomSpan(span, 0.25, 4300, BOUNDS), 4, 4300, BOUNDS);
  close(back.from, span.from);
  close(back.to, span.to);
});

test("zooming out stops at the whole run, zooming in at two steps", () => {
  assert.deepEqual(zoomSpan({ from: 200, to: 9000 }, 50, 300, BOUNDS), BOUNDS);
  close(width(zoomSpan({ from: 200, to: 210 }, 1e-9, 205, BOUNDS)), 2);
  const short = { from: 0, to: 1 };
  assert.deepEqual(zoomSpan(short, 1e-9, 0.5, short), short);
});

test("panning keeps the width and stops at the ends", () => {
  const random = seeded(3);
  for (let round = 0; round < 500; round++) {
    const from = between(random, 100, 9000);
    const span = { from, to: from + between(random, 1, 1000) };
    const moved = panSpan(span, between(random, -20_000, 20_000), BOUNDS);
    close(width(moved), width(span));
    assert.ok(inside(moved));
  }
  assert.equal(panSpan({ from: 500, to: 600 }, 40, BOUNDS).from, 540);
});

test("the latest span ends with the run and keeps its width", () => {
  assert.deepEqual(latestSpan({ from: 500, to: 700 }, BOUNDS), { from: 9900, to: 10_100 });
  assert.deepEqual(latestSpan({ from: 0, to: 1e9 }, BOUNDS), BOUNDS);
});

test("a span wider than the run is the run", () => {
  assert.deepEqual(clampSpan({ from: -5, to: 1e6 }, BOUNDS), BOUNDS);
  assert.deepEqual(clampSpan({ from: 0, to: 50 }, BOUNDS), { from: 100, to: 150 });
});

test("pixels and steps are each other's inverse", () => {
  const span = { from: 17, to: 431 };
  for (const step of [17, 20.5, 431, 900]) close(toStep(toPixel(step, span, 852), span, 852), step);
});
