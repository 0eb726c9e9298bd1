/** What stays and what moves when new data comes: the model and the picture over real HTTP. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { effect } from "@preact/signals";
import type { Link } from "../../../src/host/link.ts";
import { type Actions, createActions } from "../../../src/panels/weights/actions.ts";
import { createModel, type Model } from "../../../src/panels/weights/model.ts";
import { createPicture, type Picture } from "../../../src/panels/weights/picture.ts";
import { packed } from "../../answers.ts";

const COLUMNS = ["update_ratio", "weight_norm"].map((name) => ({
  name,
  label: name,
  unit: "",
  scale: "log",
  healthy: name === "update_ratio" ? 1e-3 : null,
}));
const ROW = {
  name: "fc.weight",
  module: "fc",
  class: "Linear",
  shape: [2],
  dtype: "float32",
  trainable: true,
};
const bytes = (array: Float32Array | Float64Array | Uint32Array) => new Uint8Array(array.buffer);

/** A log server whose runs the tests let grow. Samples stand at every tenth step. */
class Log {
  server = "one";
  p99 = 1e-2;
  readonly last = new Map([
    ["a", 990],
    ["b", 90],
  ]);
  readonly asked: string[] = [];

  answer(path: string, query: URLSearchParams): string | Uint8Array {
    if (path !== "/runs") this.asked.push(`${path}?${query}`);
    const run = query.get("run") ?? "";
    const last = this.last.get(run) ?? 0;
    switch (path) {
      case "/runs": {
        const runs = [...this.last].map(([name, step]) => ({
          name,
          state: "live",
          nan: false,
          tables: true,
          last_step: step,
          last_wall: step,
          error: null,
          generation: step,
        }));
        const progress = { done: true };
        return JSON.stringify({
          server: this.server,
          problem: null,
          runs,
          progress,
          looks_again_s: 3600,
          oddities: [],
        });
      }
      case "/run": {
        const steps = { first: 0, last, count: last / 10 + 1 };
        const scope = {
          name: "model",
          columns: COLUMNS,
          rows: [ROW],
          modules: {},
          steps,
          end: last + 10,
          facts: [],
        };
        return JSON.stringify({ run, generation: last, scopes: [scope] });
      }
      case "/steps": {
        const steps = Float64Array.from({ length: last / 10 + 1 }, (_, k) => 10 * k);
        return new Uint8Array(
          packed(
            {},
            {
              steps: { dtype: "<f8", shape: [steps.length], values: bytes(steps) },
              session: { dtype: "<u4", shape: [steps.length], values: bytes(new Uint32Array(steps.length)) },
            },
          ),
        );
      }
      default:
        return new Uint8Array(this.cells(run, last, query));
    }
  }

  private cells(run: string, last: number, query: URLSearchParams): ArrayBuffer {
    const from = Number(query.get("from") ?? 0);
    const to = Number(query.get("to") ?? last + 10);
    const floats = { dtype: "<f4", shape: [1, 1], values: bytes(Float32Array.of(1e-3)) };
    const counts = { dtype: "<u4", shape: [1, 1], values: bytes(new Uint32Array(1)) };
    const names = ["count", "zeros", "nan", "pinf", "ninf", "missing"];
    return packed(
      {
        run,
        scope: "model",
        column: query.get("column"),
        scale: "log",
        generation: last,
        from,
        to,
        last,
        nodes: [{ path: ROW.name, leaf: true, leaves: 1, folded_to_fit: false }],
        rows: [{ node: 0, stratum: "value" }],
        distribution: { low: -12, high: 6, counts: [1], zeros: 0, nan: 0, pinf: 0, ninf: 0, missing: 0 },
        quantiles: { p1: 1e-4, p50: 1e-3, p99: this.p99 },
      },
      {
        edges: { dtype: "<f8", shape: [2], values: bytes(Float64Array.of(from, to)) },
        mean: { ...floats, values: bytes(Float32Array.of(-3)) },
        min: floats,
        max: floats,
        ...Object.fromEntries(names.map((name) => [name, counts])),
        status: { dtype: "|u1", shape: [1, 1], values: new Uint8Array(1) },
      },
    );
  }
}

let log = new Log();
const fetched = globalThis.fetch;
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, "http://tb");
  response.end(log.answer(pathname, searchParams));
});

before(async () => {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // In the tab the frame's base address does this.
  globalThis.fetch = (path, options) => fetched(new URL(String(path), base), options);
});
after(() => {
  globalThis.fetch = fetched;
  server.closeAllConnections();
  server.close();
});

/** Resolves once `condition`, which reads signals, holds. */
function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (condition()) queueMicrotask(() => resolve(stop?.()));
    });
  });
}

interface Tab {
  readonly model: Model;
  readonly picture: Picture;
  readonly actions: Actions;
  grow(run: string, last: number): Promise<void>;
}

async function opened(link: Record<string, string>, test: (tab: Tab) => Promise<void>): Promise<void> {
  log = new Log();
  const written: Link = { read: () => link, write: () => undefined };
  const model = createModel(written);
  const picture = createPicture(model);
  picture.frame.value = { width: 1000, height: 600, ratio: 1 };
  const settled = () => picture.settled.value && model.steps.answer.value !== null;
  const tab: Tab = {
    model,
    picture,
    actions: createActions(model, picture),
    async grow(run, last) {
      log.last.set(run, last);
      model.poll.now();
      await until(
        () =>
          model.generation.value === last &&
          settled() &&
          model.steps.answer.value!.value.steps.at(-1) === last,
      );
    },
  };
  model.poll.now();
  await until(settled);
  try {
    await test(tab);
  } finally {
    model.poll.pause();
  }
}

test("the whole run grows with the run, and a cursor on the last step goes along", () =>
  opened({ run: "a" }, async ({ model, picture, grow }) => {
    assert.deepEqual(picture.view.value, { from: 0, to: 1000 });
    assert.equal(model.cursor.value, 990);
    await grow("a", 1990);
    assert.deepEqual(picture.view.value, { from: 0, to: 2000 });
    assert.equal(model.cursor.value, 1990);
  }));

test("a cursor that stands elsewhere stays there", () =>
  opened({ run: "a" }, async ({ model, actions, grow }) => {
    actions.moveTo(503);
    assert.equal(model.cursor.value, 500, "on the closest sample");
    await grow("a", 1990);
    assert.equal(model.cursor.value, 500);
  }));

test("zoomed away from the newest step, new data moves neither window nor limits nor cursor", () =>
  opened({ run: "a" }, async ({ model, picture, actions, grow }) => {
    actions.zoomSteps(0.5, 400);
    assert.equal(model.choices.value.follow, false);
    const { view, axis } = picture;
    const [window, limits] = [view.value, axis.value!.high];
    await until(() => picture.settled.value);
    log.p99 = 1e3;
    await grow("a", 1990);
    assert.deepEqual(view.value, window);
    assert.equal(axis.value!.high, limits);
    assert.equal(model.cursor.value, 990);
  }));

test("turning follow latest off freezes the picture as it stands, and on again frees it", () =>
  opened({ run: "a" }, async ({ model, picture, actions, grow }) => {
    actions.setFollow(false);
    await until(() => picture.settled.value);
    log.p99 = 1e3;
    await grow("a", 1990);
    assert.deepEqual(picture.view.value, { from: 0, to: 1000 });
    assert.equal(picture.axis.value!.high, -2);
    assert.equal(model.choices.value.held, true);
    actions.setFollow(true);
    await until(() => picture.settled.value);
    assert.deepEqual(picture.view.value, { from: 1000, to: 2000 }, "the newest steps, as many as before");
    assert.equal(picture.axis.value!.high, -1);
    assert.equal(model.choices.value.limits, null);
  }));

test("zoomed at the newest step, the window goes along with its width", () =>
  opened({ run: "a" }, async ({ model, picture, actions, grow }) => {
    actions.show({ from: 800, to: 1000 });
    assert.equal(model.choices.value.follow, true);
    await until(() => picture.settled.value);
    await grow("a", 1990);
    assert.deepEqual(picture.view.value, { from: 1800, to: 2000 });
  }));

test("a reset shows the whole run again", () =>
  opened({ run: "a", window: "200..300", row: "20" }, async ({ model, picture, actions }) => {
    assert.deepEqual(picture.view.value, { from: 900, to: 1000 }, "followed from the link");
    actions.reset();
    await until(() => picture.settled.value);
    assert.deepEqual(picture.view.value, { from: 0, to: 1000 });
    assert.equal(model.choices.value.row, null);
  }));

test("a reset after a zoom is as if nothing had been zoomed: window, limits and last step go along again", () =>
  opened({ run: "a" }, async ({ model, picture, actions, grow }) => {
    actions.zoomSteps(0.5, 400);
    await until(() => picture.settled.value);
    actions.reset();
    await until(() => picture.settled.value);
    log.p99 = 1e3;
    await grow("a", 1990);
    assert.deepEqual(picture.view.value, { from: 0, to: 2000 });
    assert.equal(model.cursor.value, 1990);
    assert.equal(picture.axis.value!.high, -1);
  }));

test("another run is shown whole, with the cursor in it; the same one again changes nothing", () =>
  opened({ run: "a", window: "40..300", follow: "off", step: "250" }, async ({ model, picture, actions }) => {
    actions.chooseRun("a");
    assert.deepEqual(picture.view.value, { from: 40, to: 300 });
    actions.chooseRun("b");
    await until(() => picture.settled.value && picture.cells.answer.value?.value.run === "b");
    assert.deepEqual(picture.view.value, { from: 0, to: 100 });
    assert.equal(model.cursor.value, 90);
  }));

test("a link's window and cursor wait for steps that are not read yet", () =>
  opened({ run: "b", window: "200..300", follow: "off", step: "250" }, async ({ model, picture, grow }) => {
    assert.deepEqual(picture.view.value, { from: 0, to: 100 });
    assert.equal(model.cursor.value, 90);
    await grow("b", 990);
    assert.deepEqual(picture.view.value, { from: 200, to: 300 });
    assert.equal(model.cursor.value, 250);
  }));

test("another run is never drawn with the cells of the one before, and a window it lacks is dropped", () =>
  opened({ run: "a", window: "200..300", follow: "off" }, async ({ model, picture, actions }) => {
    actions.chooseRun("b");
    assert.equal(picture.scene.value, null);
    await until(() => picture.settled.value && picture.cells.answer.value?.value.run === "b");
    assert.deepEqual(picture.view.value, { from: 0, to: 100 });
    assert.equal(model.choices.value.window, null);
  }));

test("another statistic has limits of its own, also while those before were held", () =>
  opened({ run: "a", follow: "off" }, async ({ model, picture, actions }) => {
    assert.equal(model.choices.value.held, true);
    actions.chooseStatistic("weight_norm");
    await until(() => picture.settled.value && model.choices.value.held);
    assert.equal(picture.axis.value!.scale, "magnitude");
    assert.equal(picture.axis.value!.centre, null);
  }));

test("moving the cursor asks for no cells and paints nothing", () =>
  opened({ run: "a" }, async ({ model, picture, actions }) => {
    const [scene, asked] = [picture.scene.value, log.asked.length];
    for (let k = 0; k < 20; k++) actions.moveBy(-1);
    assert.equal(model.cursor.value, 790);
    assert.equal(picture.scene.value, scene);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(log.asked.length, asked);
  }));

test("an earlier state of the run is asked of every route, and another run is shown as it stands", () =>
  opened({ run: "a", window: "200..300", follow: "off" }, async ({ model, picture, actions }) => {
    actions.showUntil(0);
    await until(() => picture.settled.value && new URLSearchParams(log.asked.at(-1)).get("until") === "0");
    const since = log.asked.slice(log.asked.findIndex((path) => path.includes("until=0")));
    for (const route of ["/run?", "/steps?", "/cells?"])
      assert.ok(
        since.some((path) => path.startsWith(route) && path.includes("until=0")),
        route,
      );
    assert.deepEqual(picture.view.value, { from: 200, to: 300 }, "the same steps, to compare");
    actions.setShift(true);
    assert.equal(model.choices.value.window, null, "steps are others now, so all are shown");
    assert.deepEqual(model.history.value, { until: 0, shift: true });
    actions.chooseRun("b");
    assert.deepEqual(model.history.value, { until: null, shift: false });
  }));

test("what stands behind a window is never of other sessions", () =>
  opened({ run: "a", window: "200..300", follow: "off" }, async ({ picture, actions }) => {
    actions.pan(50);
    await until(() => picture.settled.value && picture.overview.value !== null);
    actions.showUntil(0);
    assert.equal(picture.overview.value, null);
    await until(() => picture.settled.value && picture.overview.value !== null);
  }));

test("a drag asks once, when it rests", () =>
  opened({ run: "a", window: "200..300", follow: "off" }, async ({ picture, actions }) => {
    const before = log.asked.length;
    for (let k = 0; k < 50; k++) actions.pan(1);
    assert.deepEqual(picture.view.value, { from: 250, to: 350 }, "what is on screen follows at once");
    assert.equal(picture.settled.value, false);
    await until(() => picture.settled.value);
    assert.equal(log.asked.slice(before).filter((path) => path.startsWith("/cells")).length, 1);
  }));

test("a server that started anew is asked anew, though its generations begin at the same number", () =>
  opened({ run: "a" }, async ({ model, picture }) => {
    const { cells } = picture;
    const first = cells.answer.value;
    log.server = "two";
    model.poll.now();
    await until(() => cells.answer.value !== first && picture.settled.value);
    assert.match(cells.answer.value!.key, /#two /);
  }));
