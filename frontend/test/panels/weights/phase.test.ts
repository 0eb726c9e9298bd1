import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { Gone, Refused } from "../../../src/host/request.ts";
import type { App } from "../../../src/panels/weights/app-context.ts";
import { DEFAULTS } from "../../../src/panels/weights/choices.ts";
import type { RunSummary, RunsAnswer } from "../../../src/panels/weights/contract.ts";
import { phaseOf } from "../../../src/panels/weights/phase.ts";
import { cellsOf, leaf, sample } from "../../answers.ts";

const RUN: RunSummary = {
  name: "a",
  state: "ended",
  nan: false,
  tables: true,
  last_step: 1,
  last_wall: 1,
  error: null,
  generation: 1,
  holds: { scalar: 1 },
};
const CELLS = cellsOf([leaf("w")], [[sample(1e-3)]], {
  distribution: { low: -12, high: 6, counts: [1], zeros: 0, nan: 0, pinf: 0, ninf: 0, missing: 0 },
});

interface Given {
  runs?: RunSummary[] | null;
  done?: boolean;
  problem?: string;
  run?: string | null;
  window?: { from: number; to: number };
  infoError?: Error;
  scope?: null;
  column?: null;
  cells?: typeof CELLS | null;
  cellsError?: Error;
}

/** What the model and the picture say, as far as the phase looks at it. */
function phase(given: Given) {
  const runs = given.runs === undefined ? [RUN] : given.runs;
  const name = given.run === undefined ? "a" : given.run;
  const failed = (error: Error | undefined) => ({
    error: signal(error ? { key: "", error } : null),
    retry: () => undefined,
  });
  const app = {
    model: {
      runs: signal(
        runs &&
          ({
            runs,
            problem: given.problem ?? null,
            progress: { done: given.done ?? true },
          } as unknown as RunsAnswer),
      ),
      choices: signal({ ...DEFAULTS, run: name }),
      summary: signal(runs?.find((each) => each.name === name) ?? null),
      info: failed(given.infoError),
      scope: signal(given.scope === null ? null : {}),
      column: signal(given.column === null ? null : { label: "Update ratio" }),
    },
    picture: {
      asked: signal(given.window ?? null),
      cells: {
        ...failed(given.cellsError),
        answer: signal(given.cells === null ? null : { key: "", value: given.cells ?? CELLS }),
      },
    },
  };
  return phaseOf(app as unknown as App);
}

test("a run with cells is a picture", () => assert.equal(phase({}).is, "picture"));

test("before there is anything it is loading, and so it is while files are read", () => {
  assert.equal(phase({ runs: null }).is, "loading");
  assert.equal(phase({ runs: [], run: null, done: false }).is, "loading");
  assert.equal(phase({ run: "b", done: false }).is, "loading");
  assert.equal(phase({ scope: null }).is, "loading");
  assert.equal(phase({ cells: null }).is, "loading");
  for (const state of ["waiting", "reading"] as const)
    assert.equal(phase({ runs: [{ ...RUN, state, tables: false }], done: false }).is, "loading");
});

test("a logdir without tables is empty, whether or not it has runs", () => {
  assert.equal(phase({ runs: [], run: null }).is, "empty");
  assert.equal(phase({ runs: [{ ...RUN, tables: false }], run: null }).is, "empty");
});

test("a run of other writers says that it is one", () => {
  const runs = [
    { ...RUN, tables: false },
    { ...RUN, name: "b" },
  ];
  assert.deepEqual(phase({ runs }), { is: "scalars", run: "a" });
  assert.deepEqual(
    phase({ runs, done: false }),
    { is: "scalars", run: "a" },
    "other files may be read still",
  );
  assert.equal(
    phase({ runs: [{ ...RUN, tables: false }] }).is,
    "scalars",
    "it was picked where none has tables",
  );
});

test("a run that the link names and the logdir lacks is told", () => {
  assert.deepEqual(phase({ run: "gone" }), {
    is: "error",
    run: "gone",
    sentence: "There is no run 'gone' in this logdir. It may have been moved or removed.",
  });
});

test("an unreadable run says why in its place, also when it is the only one", () => {
  const broken = { ...RUN, tables: false, error: "File 'a/x' is not readable." };
  for (const run of ["a", null]) {
    const told = phase({ runs: [broken], run });
    assert.deepEqual(told, { is: "error", run: "a", sentence: "File 'a/x' is not readable." });
  }
});

test("a server that can read nothing at all says why", () => {
  const told = phase({ problem: "TensorBoard was started without a log directory." });
  assert.ok(told.is === "error" && told.sentence === "TensorBoard was started without a log directory.");
});

test("a refusal stands in the run's place and can be tried again; no answer leaves the picture", () => {
  const told = phase({ cellsError: new Refused("The window is empty.") });
  assert.ok(told.is === "error" && told.sentence === "The window is empty." && told.retry);
  assert.equal(phase({ infoError: new Refused("No.") }).is, "error");
  assert.equal(phase({ cellsError: new Gone("TensorBoard does not answer.") }).is, "picture");
  assert.equal(phase({ infoError: new Gone("TensorBoard does not answer.") }).is, "picture");
});

test("a run without the statistic, or without one value of it, is partial", () => {
  assert.deepEqual(phase({ column: null }), { is: "partial", run: "a", statistic: "update_ratio" });
  const bare = cellsOf([leaf("w")], [[{ missing: 1 }]]);
  assert.deepEqual(phase({ cells: bare }), { is: "partial", run: "a", statistic: "update ratio" });
  assert.equal(
    phase({ cells: bare, window: { from: 5, to: 9 } }).is,
    "picture",
    "a window may well be empty",
  );
});

test("nothing but NaN is a picture", () => {
  const distribution = { ...CELLS.distribution, counts: [0], nan: 1 };
  assert.equal(phase({ cells: { ...CELLS, distribution } }).is, "picture");
});
