import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { browserMeans, type Changed, createStream, type Hello } from "../../src/host/stream.ts";
import { Browser } from "../browser.ts";

/** A frame of that browser, and what it heard. */
function frameOf(browser: Browser) {
  const heard: (Hello | Changed)[] = [];
  const note = (what: Hello | Changed) => heard.push(what);
  const stream = createStream("stream", { hello: note, changed: note }, browser.means);
  return { stream, heard };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

let browser: Browser;
beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  browser = new Browser();
});
afterEach(() => mock.timers.reset());

test("a frame alone listens to the server it joined, and is up once that said hello", () => {
  const { stream, heard } = frameOf(browser);
  assert.equal(browser.sources.length, 0);
  stream.join("s");
  assert.deepEqual(
    browser.sources.map((source) => source.url),
    ["http://host/prefix/data/plugin/x/stream"],
  );
  assert.equal(stream.up.value, false);
  browser.sources[0]!.says("hello", { server: "s", generation: 7 });
  assert.equal(stream.up.value, true);
  browser.sources[0]!.says("changed", { generation: 8, runs: { a: 8 } });
  assert.equal(stream.generation(), 8);
  assert.deepEqual(
    heard.map((each) => [each.generation, "runs" in each && each.runs]),
    [
      [7, false],
      [8, { a: 8 }],
    ],
  );
});

test("frames share one connection, and all hear what it brings", () => {
  const [first, second] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  second.stream.join("s");
  assert.equal(browser.sources.length, 1);
  browser.sources[0]!.says("hello", { server: "s", generation: 1 });
  browser.sources[0]!.says("changed", { generation: 2, runs: { a: 2 } });
  assert.deepEqual(second.heard, first.heard);
  assert.equal(second.stream.up.value, true);
});

test("a frame that comes later is told where the server stands", () => {
  const [first, late] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  browser.sources[0]!.says("hello", { server: "s", generation: 1 });
  browser.sources[0]!.says("changed", { generation: 5, runs: {} });
  late.stream.join("s");
  assert.equal(late.stream.up.value, true);
  assert.equal(late.stream.generation(), 5);
  assert.equal(first.heard.length, 2);
});

test("when the frame that listens leaves, the next one does", async () => {
  const [first, second] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  second.stream.join("s");
  browser.sources[0]!.says("hello", { server: "s", generation: 1 });
  first.stream.leave();
  assert.equal(first.stream.up.value, false);
  assert.equal(second.stream.up.value, false);
  await settle();
  assert.equal(browser.open.length, 1);
  browser.open[0]!.says("hello", { server: "s", generation: 3 });
  assert.equal(second.stream.up.value, true);
  assert.equal(first.heard.length, 1);
  first.stream.join("s");
  assert.equal(browser.open.length, 1);
  assert.equal(first.stream.up.value, true);
});

test("a frame that leaves before its turn never listens", async () => {
  const [first, second] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  second.stream.join("s");
  second.stream.leave();
  first.stream.leave();
  await settle();
  assert.equal(browser.open.length, 0);
});

test("a connection that broke is down until it says hello again", () => {
  const [first, second] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  second.stream.join("s");
  const [source] = browser.sources;
  source!.says("hello", { server: "s", generation: 1 });
  source!.breaks(0); // the browser tries again by itself
  assert.equal(first.stream.up.value, false);
  assert.equal(second.stream.up.value, false);
  source!.says("hello", { server: "s", generation: 2 });
  assert.equal(second.stream.up.value, true);
  mock.timers.tick(120_000);
  assert.equal(browser.sources.length, 1);
});

test("after a refusal it asks again in half a minute", () => {
  const { stream } = frameOf(browser);
  stream.join("s");
  browser.sources[0]!.breaks(2);
  mock.timers.tick(29_999);
  assert.equal(browser.sources.length, 1);
  mock.timers.tick(1);
  assert.equal(browser.sources.length, 2);
  browser.sources[1]!.breaks(2);
  stream.leave();
  mock.timers.tick(120_000);
  assert.equal(browser.sources.length, 2);
});

test("a quiet server keeps all frames up", () => {
  const [first, second] = [frameOf(browser), frameOf(browser)];
  first.stream.join("s");
  second.stream.join("s");
  browser.sources[0]!.says("hello", { server: "s", generation: 1 });
  for (let k = 0; k < 20; k++) mock.timers.tick(10_000);
  assert.equal(first.stream.up.value, true);
  assert.equal(second.stream.up.value, true);
});

test("a leader that falls silent, as in a page that the browser froze, is not waited for", () => {
  const follower = frameOf(browser);
  browser.means.locks.request = (() => new Promise(() => {})) as LockManager["request"];
  follower.stream.join("s");
  const channel = browser.means.channel("zentracer /prefix/data/plugin/x/stream s");
  channel.postMessage({ kind: "alive" });
  mock.timers.tick(24_999);
  assert.equal(follower.stream.up.value, true);
  mock.timers.tick(1);
  assert.equal(follower.stream.up.value, false);
  channel.postMessage({ kind: "alive" });
  assert.equal(follower.stream.up.value, true);
});

test("another server that answers at the same place is none we listen to, but is told of", () => {
  const { stream, heard } = frameOf(browser);
  stream.join("s");
  browser.sources[0]!.says("hello", { server: "s", generation: 9 });
  browser.sources[0]!.breaks(0);
  browser.sources[0]!.says("hello", { server: "t", generation: 1 });
  assert.equal(stream.up.value, false);
  assert.equal((heard.at(-1) as Hello).server, "t");
  stream.join("t");
  assert.equal(browser.open.length, 1);
  browser.open[0]!.says("hello", { server: "t", generation: 1 });
  assert.equal(stream.up.value, true);
});

test("joining the server one listens to already changes nothing", () => {
  const { stream } = frameOf(browser);
  stream.join("s");
  stream.join("s");
  assert.equal(browser.sources.length, 1);
});

test("where the browser has no locks nothing is ever up", () => {
  assert.equal(browserMeans(), null); // nor has Node
  const stream = createStream("stream", { hello() {}, changed() {} }, null);
  stream.join("s");
  stream.leave();
  assert.equal(stream.up.value, false);
});

test("a place that gives no lock leaves the frame to ask by itself", async () => {
  const locks = { request: () => Promise.reject(new DOMException("no", "SecurityError")) };
  const means = { ...browser.means, locks: locks as unknown as LockManager };
  const stream = createStream("stream", { hello() {}, changed() {} }, means);
  stream.join("s");
  await settle();
  assert.equal(stream.up.value, false);
});
