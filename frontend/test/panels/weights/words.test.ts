import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleDir } from "../../../src/panels/weights/call.tsx";
import type {
  ColumnInfo,
  Found,
  Progress,
  RunSummary,
  RunsAnswer,
} from "../../../src/panels/weights/contract.ts";
import { holesOf } from "../../../src/panels/weights/holes.ts";
import { firstRun, patternOf } from "../../../src/panels/weights/model.ts";
import { examples, otherSummary, otherTitle } from "../../../src/panels/weights/other-run.tsx";
import { filledBy, otherWriters } from "../../../src/panels/weights/panes.tsx";
import { bytesRead, filesRead, foundSoFar } from "../../../src/panels/weights/reading.tsx";
import { glyphAndWord } from "../../../src/panels/weights/run-words.ts";
import {
  definition,
  endWords,
  formatValue,
  grouped,
  inline,
} from "../../../src/panels/weights/statistics.ts";
import { statusReason } from "../../../src/panels/weights/status.ts";
import { byFolder } from "../../../src/widgets/runs.tsx";

const column = (name: string, more: Partial<ColumnInfo> = {}): ColumnInfo => ({
  name,
  label: name,
  unit: "",
  scale: "linear",
  healthy: null,
  ...more,
});

test("each statistic is written as its kind is", () => {
  assert.equal(formatValue(column("update_ratio", { scale: "log" }), 3.34e-6), "3.34e−6");
  assert.equal(formatValue(column("gradient_norm", { scale: "log" }), 0.0139), "1.39e−2");
  assert.equal(formatValue(column("weight_norm", { scale: "log" }), 26.72), "26.72");
  assert.equal(formatValue(column("weight_zero_fraction", { unit: "fraction" }), 0.014), "1.4 %");
  assert.equal(formatValue(column("gradient_cosine"), 0.9931), "0.993");
});

test("the ends of a scale have words", () => {
  assert.deepEqual(endWords(column("update_ratio", { scale: "log" })), ["hardly moves", "moves a lot"]);
  assert.deepEqual(endWords(column("weight_norm", { scale: "log" })), ["small", "large"]);
  assert.deepEqual(endWords(column("weight_nan_fraction", { unit: "fraction" })), ["few", "many"]);
  assert.deepEqual(endWords(column("gradient_cosine")), ["low", "high"]);
  assert.equal(
    definition(column("update_ratio", { unit: "update norm / weight norm" })),
    "update norm / weight norm",
  );
  assert.equal(definition(column("x", { unit: "fraction", label: "Weight RMS" })), "weight RMS");
  assert.equal(inline("+Inf"), "+Inf");
});

test("statistics stand under their headings, the one with a healthy value first, the status nowhere", () => {
  const columns = ["weight_norm", "gradient_norm", "update_norm", "update_ratio", "status", "mine"].map(
    (name) => column(name, { healthy: name === "update_ratio" ? 1e-3 : null }),
  );
  assert.deepEqual(
    grouped(columns).map(([heading, members]) => [heading, members.map((each) => each.name)]),
    [
      ["Updates", ["update_ratio", "update_norm"]],
      ["Gradients", ["gradient_norm"]],
      ["Weights", ["weight_norm"]],
      ["Others", ["mine"]],
    ],
  );
});

test("status bits explain values that are 0 or not there, and nothing else", () => {
  assert.equal(statusReason(1 | 4, 0), "frozen");
  assert.equal(statusReason(1 | 32, 0), "update skipped");
  assert.equal(statusReason(1 | 2, 0), "no gradient");
  assert.equal(statusReason(1 | 64, 0), "unused in the backward pass");
  assert.equal(statusReason(1 | 4, 0.5), "");
  assert.equal(statusReason(1 | 8, undefined), "the weight norm is 0");
  assert.equal(statusReason(1 | 128, Number.NaN), "not measurable on this step");
  assert.equal(statusReason(1 | 4, undefined), "frozen");
  assert.equal(statusReason(1 | 2, undefined), "no gradient");
  assert.equal(statusReason(1, undefined), "");
  assert.equal(statusReason(1 | 16, 0.5), "estimated from a part of the entries");
});

const run = (name: string, more: Partial<RunSummary> = {}): RunSummary => ({
  name,
  state: "ended",
  nan: false,
  tables: true,
  last_step: 1,
  last_wall: 1,
  error: null,
  generation: 1,
  holds: { scalar: 1 },
  ...more,
});
const answer = (...runs: RunSummary[]): RunsAnswer => ({ runs }) as unknown as RunsAnswer;

test("the state of a run is a glyph and a word", () => {
  const words = (more: Partial<RunSummary>) => Object.values(glyphAndWord(run("a", more))).join(": ");
  assert.equal(words({ state: "live" }), "live: live");
  assert.equal(words({ state: "live", nan: true }), "nan: live, NaN");
  assert.equal(words({}), "ended: ended");
  assert.equal(words({ nan: true }), "nan: ended, NaN");
  assert.equal(words({ state: "waiting", tables: false }), "waiting: waiting");
  assert.equal(words({ state: "reading" }), "reading: reading");
  assert.equal(words({ tables: false }), "ended: scalars only");
  assert.equal(words({ tables: false, state: "live" }), "live: scalars only");
  assert.equal(words({ tables: false, state: "live", last_step: null }), "live: no samples yet");
  assert.equal(words({ tables: false, holds: { scalar: 3, text: 1 } }), "ended: no weights");
  assert.equal(words({ tables: false, holds: {}, last_step: null }), "ended: nothing");
  assert.equal(words({ error: "File a is not readable." }), "error: unreadable");
});

test("the first run shown is a live one with tables, within TensorBoard's filter where that has any", () => {
  const [a, b, c] = [run("a"), run("b", { state: "live" }), run("c", { tables: false, state: "live" })];
  assert.equal(firstRun(answer(a, b, c), ""), "b");
  assert.equal(firstRun(answer(a, b, c), "^a"), "a");
  assert.equal(firstRun(answer(a, b, c), "c"), "b");
  assert.equal(firstRun(answer(a, b, c), "("), "b", "not a regular expression");
  assert.equal(firstRun(answer(c), ""), null);
});

test("a half-typed expression filters nothing", () => {
  assert.equal(patternOf("("), null);
  assert.equal(patternOf(""), null);
  assert.ok(patternOf("bias$")!.test("fc.bias"));
});

test("runs stand under their folder, those in none first", () => {
  const runs = ["x/a", "x/b", "top", "y/z/a"].map((name) => ({
    name,
    glyph: "live" as const,
    word: "",
    right: "",
  }));
  assert.deepEqual(
    byFolder(runs).map(([folder, members]) => [folder, members.map((each) => each.name)]),
    [
      ["", ["top"]],
      ["x", ["x/a", "x/b"]],
      ["y/z", ["y/z/a"]],
    ],
  );
});

const found = (more: Partial<Found>): Found => ({
  runs: 1,
  files: 1,
  bytes: 1,
  unreadable: 0,
  scalar_tags: 0,
  histogram_tags: 0,
  other_tags: 0,
  ...more,
});

test("what other writers left is told", () => {
  assert.equal(
    otherWriters(found({ scalar_tags: 38, histogram_tags: 4 })),
    "38 scalar and 4 histogram tags of other writers. They are in Time Series; each run says what it holds.",
  );
  assert.equal(
    otherWriters(found({ scalar_tags: 1 })),
    "1 scalar tag of other writers. They are in Time Series; each run says what it holds.",
  );
  assert.equal(
    otherWriters(found({ scalar_tags: 7, histogram_tags: 59, other_tags: 19 })),
    "7 scalar, 59 histogram and 19 other tags of other writers. They are in TensorBoard's own tabs; each run says what it holds.",
  );
  assert.equal(otherWriters(found({})), "nothing yet");
});

test("the call to paste names a run in this logdir", () => {
  assert.equal(exampleDir("/home/u/runs/"), '"/home/u/runs/baseline"');
  assert.equal(exampleDir("~/experiments/runs"), '"runs/baseline"');
  assert.equal(exampleDir("a:/x,b:/y"), '"runs/baseline"');
  assert.equal(exampleDir('/odd "name"'), '"/odd \\"name\\"/baseline"');
  assert.equal(exampleDir(""), '"runs/baseline"');
});

test("a statistic that needs a call says which", () => {
  assert.match(filledBy("gradient_norm_before_clip"), /clip_grad_norm_/);
  assert.equal(filledBy("update_ratio"), "");
});

test("holes lie between sessions", () => {
  const steps = Float64Array.of(0, 20, 40, 100, 120);
  assert.deepEqual(holesOf({ steps, session: Uint32Array.of(0, 0, 0, 1, 1) }), [{ from: 40, to: 100 }]);
  assert.deepEqual(holesOf(undefined), []);
});

test("a run of other writers says what it holds", () => {
  const other = (more: Partial<RunSummary>) => run("a", { tables: false, ...more });
  assert.equal(otherTitle(other({})), "a holds scalars only");
  assert.equal(otherTitle(other({ holds: { scalar: 1, image: 2 } })), "a holds no weights");
  assert.equal(otherTitle(other({ holds: {}, last_step: null })), "a holds nothing");
  assert.equal(otherTitle(other({ state: "live", last_step: null })), "a has no samples yet");
  const last_wall = new Date(2020, 0, 2, 3, 4).getTime() / 1000;
  const written = "last written on 2 Jan 2020, 03:04.";
  assert.equal(otherSummary(other({ last_step: 50_000, last_wall })), `Up to step 50,000, ${written}`);
  assert.equal(otherSummary(other({ last_step: null, last_wall })), `Last written on 2 Jan 2020, 03:04.`);
  assert.equal(otherSummary(other({ last_step: null, last_wall: null })), "");
});

test("tags are named, and how many more there are", () => {
  const entry = { sort: "scalar", tags: 12, points: 1, examples: ["loss", "accuracy"] };
  assert.equal(examples(entry), "loss, accuracy and 10 more");
  assert.equal(examples({ ...entry, tags: 2 }), "loss, accuracy");
});

test("reading says files, bytes, rate and time left, as far as they are known", () => {
  const progress: Progress = {
    files: 12,
    files_total: 40,
    bytes: 2.1e9,
    bytes_total: 6.9e9,
    bytes_per_second: 441e6,
    seconds_left: 11,
    done: false,
  };
  assert.equal(filesRead(progress), "Reading 12 of 40 files, 11 s left");
  assert.equal(bytesRead(progress), "2.1 GB of 6.9 GB at 441 MB/s");
  const early = { ...progress, bytes_per_second: null, seconds_left: null };
  assert.equal(filesRead(early), "Reading 12 of 40 files");
  assert.equal(bytesRead(early), "2.1 GB of 6.9 GB");
  const first = { ...early, files: 0, files_total: 0, bytes: 0, bytes_total: 0 };
  assert.equal(filesRead(first), "Looking for event files");
  assert.equal(bytesRead(first), "");
  assert.equal(
    foundSoFar(found({ runs: 9, scalar_tags: 38, histogram_tags: 1, other_tags: 2 })),
    "Found so far: 9 runs, 38 scalar tags, 1 histogram tag, 2 other tags.",
  );
  assert.equal(foundSoFar(found({})), "Found so far: 1 run.");
});
