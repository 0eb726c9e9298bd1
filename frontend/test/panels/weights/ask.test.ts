import assert from "node:assert/strict";
import { test } from "node:test";
import {
  atPath,
  cellsPath,
  numbered,
  outlived,
  runPath,
  samePast,
  sameSubject,
  samplePath,
  stepsPath,
  withinLimits,
} from "../../../src/panels/weights/ask.ts";
import { pick, seeded, whole } from "../../random.ts";

const QUESTION = {
  run: "a/b=c&d",
  scope: "model",
  column: "update_ratio",
  history: { until: null, shift: false },
  span: null,
  width: 852,
  height: 161,
  rows: 161,
};
const query = (path: string) => Object.fromEntries(new URLSearchParams(path.split("?")[1]));

test("a question about cells says what the contract wants, and nothing that it need not", () => {
  assert.deepEqual(query(cellsPath({ ...QUESTION, folds: [] })), {
    run: "a/b=c&d",
    scope: "model",
    column: "update_ratio",
    width: "852",
    height: "161",
  });
  const zoomed = query(cellsPath({ ...QUESTION, span: { from: 10.4, to: 99.2 }, folds: ["layer1", "x,y"] }));
  assert.equal(zoomed.from, "10");
  assert.equal(zoomed.to, "100");
  assert.deepEqual(zoomed.fold?.split(",").map(decodeURIComponent), ["layer1", "x,y"]);
});

test("an answer never holds more than the server gives", () => {
  const random = seeded(16);
  for (let round = 0; round < 500; round++) {
    const rows = pick(random, [5, 161, 2000, 50_000]);
    const height = pick(random, [whole(random, 1, 3000), 8192, rows]);
    const folds = Array.from({ length: whole(random, 0, 5) }, String);
    const { width, height: nodes } = withinLimits({ width: whole(random, 1, 20_000), height, rows, folds });
    assert.ok(width >= 1 && width <= 8192 && nodes >= 1 && nodes <= 8192);
    // as many lines as the answer can have: four a folded node, and no more nodes than there are rows
    const lines = height >= rows ? rows + 3 * folds.length : 4 * nodes;
    assert.ok(width * lines <= 4e6 || width === 1, `${width} x ${lines}`);
  }
});

test("the questions of a view are numbered, those of another are another's", () => {
  const [first, second] = [numbered(), numbered()];
  const asked = [first("cells?run=a#one 1"), first("cells?run=b#one 1"), second("cells?run=a")].map(query);
  assert.deepEqual(
    asked.map(({ run, n }) => [run, n]),
    [
      ["a", "1"],
      ["b", "2"],
      ["a", "1"],
    ],
  );
  assert.equal(asked[0]!.view, asked[1]!.view);
  assert.notEqual(asked[0]!.view, asked[2]!.view);
});

test("a question is outlived by another of the user, not by the same of a log that grew", () => {
  assert.ok(outlived("cells?from=0#one 1", "cells?from=5#one 1"));
  assert.ok(!outlived("cells?from=0#one 1", "cells?from=0#one 2"));
  assert.ok(!outlived("cells?from=0#one 1", "cells?from=5#one 2"), "follow latest moves the window, too");
});

test("what fits is asked in full", () => {
  assert.deepEqual(withinLimits({ width: 852, height: 161, rows: 161, folds: [] }), {
    width: 852,
    height: 161,
  });
});

test("answers stand in for each other within one run, scope and statistic only", () => {
  const subject = {
    run: "a",
    scope: "model",
    column: "update_ratio",
    history: { until: null, shift: false },
  };
  assert.ok(sameSubject(`${atPath(subject, 5)}#1`, `${atPath(subject, 6)}#2`));
  for (const [key, value] of Object.entries({ run: "b", scope: "other", column: "weight_norm" }))
    assert.ok(!sameSubject(atPath(subject, 5), atPath({ ...subject, [key]: value }, 5)), key);
  assert.ok(sameSubject(samplePath(subject, "x.weight", 1), samplePath(subject, "y.weight", 1)));
});

test("every question says which sessions count and where they lie, where that is not as recorded", () => {
  const history = { until: 0, shift: true };
  const subject = { run: "a", scope: "m", column: "c", history };
  for (const path of [
    runPath("a", history),
    stepsPath("a", "m", history),
    atPath(subject, 5),
    samplePath(subject, "w", 5),
    cellsPath({ ...QUESTION, history, folds: [] }),
  ]) {
    assert.equal(query(path).until, "0", path);
    assert.equal(query(path).shift, "1", path);
    assert.equal(query(path).history, undefined, path);
  }
  assert.equal(query(runPath("a", { until: null, shift: false })).until, undefined);
});

test("what lies behind a picture is of the same sessions, what stands in for it dimmed need not be", () => {
  const path = (until: number | null, shift: boolean) =>
    cellsPath({ ...QUESTION, history: { until, shift }, folds: [] });
  assert.ok(samePast(path(0, false), path(0, false)));
  for (const other of [path(null, false), path(1, false), path(0, true)]) {
    assert.ok(!samePast(path(0, false), other));
    assert.ok(sameSubject(path(0, false), other));
  }
});
