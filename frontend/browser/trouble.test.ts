/** The states that need more than a link: a server that stops, a statistic without values, a browser that does not copy. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch } from "./chromium.ts";
import { type Running, temporaryDirectory, tensorboard, training } from "./processes.ts";
import { Tab } from "./tab.ts";

const directory = temporaryDirectory();
let browser: Browser;

before(async () => {
  browser = await launch();
  const trained = await training(join(directory.path, "digits"));
  await trained.stop();
});
after(async () => {
  await browser?.close();
  directory.remove();
});

async function served(use: (server: Running & { address: string }) => Promise<void>): Promise<void> {
  const server = await tensorboard(directory.path, "rust");
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

test("when TensorBoard stops, the picture stays, dimmed, and the tab says so and when it asks again", () =>
  served(async (server) => {
    const tab = await Tab.open(browser, server.address);
    const before = await tab.picture();
    await server.stop();
    const gone = await tab.until(`d.away === "true"`);
    assert.equal(gone.state, "picture");
    assert.equal(gone.paintedRun, before.paintedRun);
    await tab.frame.waitForSelector("canvas.stale");
    await tab.frame.waitForFunction(() =>
      /^TensorBoard does not answer\. The picture is as of \d\d:\d\d:\d\d\. Asking again in \d+ s\./.test(
        document.querySelector("[data-testid=away]")?.textContent ?? "",
      ),
    );
    await tab.close();
  }));

test("a statistic without one value says what records it, and offers those that have some", () =>
  served(async (server) => {
    const tab = await Tab.open(browser, server.address, { link: { statistic: "gradient_norm_before_clip" } });
    await tab.until(`d.state === "partial"`);
    const text = await tab.text("partial");
    assert.match(text, /digits has no gradient norm before clipping/);
    assert.match(text, /clip_grad_norm_/);
    await tab.test("partial").getByRole("button", { name: "Update ratio" }).click();
    const { paintedStatistic } = await tab.picture();
    assert.equal(paintedStatistic, "update_ratio");
    assert.deepEqual(tab.errors, []);
    await tab.close();
  }));

test("while the logs are read, the tab says how far, and shows what there is", () =>
  served(async (server) => {
    const reading = {
      files: 12,
      files_total: 40,
      bytes: 2.1e9,
      bytes_total: 6.9e9,
      bytes_per_second: 441e6,
      seconds_left: 11,
      done: false,
    };
    // As a server answers that has more to read than this test could wait for.
    const tab = await Tab.open(browser, server.address, {}, (page) =>
      page.route(/\/zentracer_weights\/runs$/, async (route) => {
        const answer = await (await route.fetch({ headers: {} })).json();
        const runs = answer.runs.map((run: object) => ({ ...run, state: "reading" }));
        await route.fulfill({ json: { ...answer, runs, progress: reading } });
      }),
    );
    await tab.picture();
    await tab.test("reading").waitFor();
    assert.equal(await tab.text("reading"), "Reading 12 of 40 files, 11 s left2.1 GB of 6.9 GB at 441 MB/s");
    assert.equal(await tab.test("progress").getAttribute("aria-valuenow"), "30");
    assert.match(await tab.text("run-picker"), /12 of 40 files read/);
    assert.deepEqual(tab.errors, []);
    await tab.close();
  }));

test("where the browser refuses to copy, the link stands there selected", () =>
  served(async (server) => {
    const tab = await Tab.open(browser, server.address);
    await tab.picture();
    await tab.frame.evaluate(() => {
      // What plain http from another machine is like.
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      document.execCommand = () => false;
    });
    await tab.test("copy-link").click();
    const field = tab.test("copy-link-field");
    await field.waitFor();
    const { value, selected } = await field.evaluate((element: HTMLInputElement) => ({
      value: element.value,
      selected: element.value.slice(element.selectionStart ?? 0, element.selectionEnd ?? 0),
    }));
    assert.equal(selected, value);
    assert.equal(value, tab.page.url());
    await tab.page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    assert.deepEqual(tab.errors, []);
    await tab.close();
  }));
