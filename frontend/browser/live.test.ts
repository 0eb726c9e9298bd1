/** The tab in TensorBoard's own page, on a run that a training process is still writing. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch } from "./chromium.ts";
import { MODES, type Running, temporaryDirectory, tensorboard, training } from "./processes.ts";
import { Tab } from "./tab.ts";

const directory = temporaryDirectory();
let browser: Browser;
let trained: Running;

before(async () => {
  [browser, trained] = await Promise.all([launch(), training(join(directory.path, "digits"))]);
});
after(async () => {
  await Promise.all([browser?.close(), trained?.stop()]);
  directory.remove();
});

for (const mode of MODES)
  describe(mode, () => {
    let server: Running & { address: string };
    before(async () => {
      server = await tensorboard(directory.path, mode);
    });
    after(() => server?.stop());

    for (const theme of ["light", "dark"] as const)
      test(`a live run can be watched, looked into and passed on as a link, ${theme}`, async () => {
        const tab = await Tab.open(browser, server.address, { theme });
        const { page, frame } = tab;

        // It is live, in TensorBoard's own colours.
        const first = await tab.picture();
        assert.equal(first.paintedRun, "digits");
        assert.equal(await tab.test("live").getAttribute("data-state"), "live");
        assert.equal(
          await frame.evaluate(() => document.documentElement.classList.contains("dark")),
          theme === "dark",
        );

        // New steps arrive, twice, without anyone asking.
        const second = await tab.until(`Number(d.lastStep) > ${first.lastStep}`);
        await tab.until(`Number(d.lastStep) > ${second.lastStep}`);

        // The wheel zooms at the pointer, a drag pans, shift and drag select.
        const middle = await tab.cell(0.5, 0.5);
        await page.mouse.move(middle.x, middle.y);
        await tab.changing("window", () => page.mouse.wheel(0, -400));
        await tab.changing("window", () => drag(tab, 0.5, 0.7));
        await page.keyboard.down("Shift");
        await tab.changing("window", () => drag(tab, 0.2, 0.8));
        await page.keyboard.up("Shift");

        // A module folds to one row.
        const module = tab.name("stage2");
        assert.equal(await module.getAttribute("aria-expanded"), "true");
        await module.click();
        await tab.frame.waitForFunction(
          () => document.querySelector("[data-path=stage2]")?.getAttribute("aria-expanded") === "false",
        );
        assert.equal(await tab.frame.locator("[data-path^='stage2.']").count(), 0);

        // The step cursor goes where the picture is clicked, and by keys.
        const clicked = await tab.changing("cursor", async () => {
          const at = await tab.cell(0.3, 0.5);
          await page.mouse.click(at.x, at.y);
        });
        const next = await tab.changing("cursor", () => page.keyboard.press("ArrowRight"));
        assert(Number(next.cursor) > Number(clicked.cursor));

        // Another statistic.
        await tab.test("statistic").click();
        await tab.changing("paintedStatistic", () => frame.locator("[data-value=gradient_norm]").click());

        // The link opens the same view, here and elsewhere.
        const view = await tab.view();
        await page.waitForURL(
          (url) => url.hash.includes("statistic=gradient_norm") && url.hash.includes(`step=${view.cursor}`),
        );
        await tab.reload();
        assert.deepEqual(await tab.view(), view);
        const elsewhere = await tab.openLinkElsewhere(browser);
        assert.deepEqual(await elsewhere.view(), view);

        assert.deepEqual([...tab.errors, ...elsewhere.errors], []);
        await elsewhere.close();
        await tab.close();
      });

    test("two windows hear of news by one stream, which the second takes over when the first closes", async () => {
      const first = await Tab.open(browser, server.address);
      const asked = new Map<string, number>();
      first.page.context().on("request", (request) => {
        if (request.frame().page() === first.page) return;
        const route = new URL(request.url()).pathname.split("/").at(-1)!;
        asked.set(route, (asked.get(route) ?? 0) + 1);
      });
      await first.picture();
      const second = await first.openWindow();
      const { lastStep } = await second.picture();
      for (const tab of [first, second]) await tab.until(`Number(d.lastStep) > ${lastStep}`);
      assert.equal(asked.get("stream") ?? 0, 0, "the second window opened a stream of its own");

      await first.page.close();
      await second.page.waitForRequest((request) => request.url().endsWith("/stream"));
      const before = await second.signs();
      await second.until(`Number(d.lastStep) > ${before.lastStep}`);
      assert.equal(asked.get("stream"), 1);
      assert.deepEqual([...first.errors, ...second.errors], []);
      await second.close();
    });
  });

/** Press, move and let go, from one part of the width of the cells to another. */
async function drag(tab: Tab, from: number, to: number): Promise<void> {
  const { mouse } = tab.page;
  const start = await tab.cell(from, 0.5);
  const end = await tab.cell(to, 0.5);
  await mouse.move(start.x, start.y);
  await mouse.down();
  await mouse.move((start.x + end.x) / 2, start.y);
  await mouse.move(end.x, end.y);
  await mouse.up();
}
