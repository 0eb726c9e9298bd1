/** How the model hears of news: by the stream where there is one, over real HTTP otherwise. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { effect } from "@preact/signals";
import type { Link } from "../../../src/host/link.ts";
import { createModel, type Model } from "../../../src/panels/weights/model.ts";
import { Browser } from "../../browser.ts";

const LINK: Link = { read: () => ({ run: "a" }), write: () => undefined };

/** A log server with one run, which says how often each route was asked. */
const log = { server: "one", generation: 1, asked: [] as string[], looks_again_s: 3600 };

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url!, "http://x");
  log.asked.push(pathname.slice(1));
  const { generation } = log;
  const runs = [{ name: "a", state: "live", nan: false, tables: true, error: null, generation }];
  const progress = { done: true };
  const answer =
    pathname === "/runs"
      ? { ...log, asked: undefined, problem: null, runs, progress, oddities: [] }
      : { run: "a", generation, scopes: [] };
  response.end(JSON.stringify(answer));
});

let browser: Browser;
let model: Model;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const real = globalThis.fetch;
  globalThis.fetch = (path, options) => real(new URL(String(path), base), options);
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  Object.assign(log, { server: "one", generation: 1, asked: [] });
  browser = new Browser();
  model = createModel(LINK, browser.means);
  model.poll.now();
  await until(() => model.generation.value === 1);
});
afterEach(() => model.poll.pause());

/** Resolves when `condition`, which reads signals, holds. */
function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    effect(() => {
      if (condition()) resolve();
    });
  });
}

const asked = (route: string) => log.asked.filter((each) => each === route).length;

test("it listens once it knows the server, and not while it is hidden", async () => {
  assert.equal(browser.open.length, 1);
  model.poll.pause();
  assert.equal(browser.open.length, 0);
  log.generation = 2;
  model.poll.now();
  await until(() => model.generation.value === 2);
  assert.equal(browser.open.length, 1);
});

test("news of the chosen run is asked for at once, before the list of all runs", async () => {
  browser.sources[0]!.says("hello", { server: "one", generation: 1 });
  log.generation = 2;
  browser.sources[0]!.says("changed", { generation: 2, runs: { a: 2 } });
  await until(() => model.generation.value === 2);
  assert.equal(asked("runs"), 1);
  await until(() => model.runs.value?.generation === 2);
  assert.equal(asked("runs"), 2);
  assert.equal(asked("run"), 2, "the list knew nothing newer of the run");
});

test("a pause between two pieces of news slows no later one", async () => {
  browser.sources[0]!.says("hello", { server: "one", generation: 1 });
  for (const generation of [2, 3, 4]) {
    await new Promise((resolve) => setTimeout(resolve, 600));
    // The list comes first and tells of it, too.
    log.generation = generation;
    model.poll.soon(0);
    await until(() => model.runs.value?.generation === generation);
    browser.sources[0]!.says("changed", { generation, runs: { a: generation } });
    await until(() => model.generation.value === generation);
  }
  log.generation = 5;
  browser.sources[0]!.says("changed", { generation: 5, runs: { a: 5 } });
  log.generation = 6;
  browser.sources[0]!.says("changed", { generation: 6, runs: { a: 6 } });
  const soon = new Promise((resolve) => setTimeout(resolve, 2000, "late"));
  const answered = until(() => model.generation.value === 6).then(() => "soon");
  assert.equal(await Promise.race([answered, soon]), "soon");
});

test("news of other runs asks only for the list", async () => {
  browser.sources[0]!.says("hello", { server: "one", generation: 1 });
  log.generation = 1;
  browser.sources[0]!.says("changed", { generation: 2, runs: { b: 2 } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(asked("run"), 1);
});

test("what happened before the stream was there is asked for", async () => {
  log.generation = 5;
  browser.sources[0]!.says("hello", { server: "one", generation: 5 });
  await until(() => model.generation.value === 5);
});

test("another server at the same place is asked, joined, and its generations begin anew", async () => {
  browser.sources[0]!.says("hello", { server: "one", generation: 1 });
  log.generation = 9;
  browser.sources[0]!.says("changed", { generation: 9, runs: { a: 9 } });
  await until(() => model.generation.value === 9);
  Object.assign(log, { server: "two", generation: 3 });
  browser.sources[0]!.breaks(0);
  browser.sources[0]!.says("hello", { server: "two", generation: 3 });
  await until(() => model.runs.value?.server === "two" && model.generation.value === 3);
  assert.equal(browser.open.length, 1);
  browser.open[0]!.says("hello", { server: "two", generation: 3 });
  log.generation = 4;
  browser.open[0]!.says("changed", { generation: 4, runs: { a: 4 } });
  await until(() => model.generation.value === 4);
});
