/** The tab on logs that other writers left in public repositories, where those are at hand. */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch } from "./chromium.ts";
import { ROOT, tensorboard } from "./processes.ts";
import { Tab } from "./tab.ts";

const LOGS = join(ROOT, "../shared/real_logs");
const MOST_RUNS = 12;
let browser: Browser;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const folders = existsSync(LOGS)
  ? readdirSync(LOGS, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  : [];

test("there are logs of other writers to look at", { skip: !folders.length && `there is no ${LOGS}` }, () => {
  assert.ok(folders.length > 3);
});

for (const { name } of folders)
  test(`${name}: what was found is told, run by run, and nothing goes wrong`, async () => {
    const server = await tensorboard(join(LOGS, name), "rust");
    const tab = await Tab.open(browser, server.address);
    try {
      await tab.until(`["empty", "error"].includes(d.state)`);
      const { state } = await tab.signs();
      assert.match(await tab.text(state!), state === "empty" ? /of other writers/ : /cannot be shown/);
      const runs = await tab
        .test("run")
        .evaluateAll((all) => all.map((each) => each.getAttribute("data-run")!));
      assert.ok(runs.length > 0);
      for (const run of runs.slice(0, MOST_RUNS)) {
        await tab.frame.locator(`[data-run="${run}"]`).click();
        await tab.frame.waitForFunction(
          (name) =>
            document
              .querySelector("[data-testid=scalars-only] h1, [data-testid=error] h1")
              ?.textContent?.startsWith(name),
          run,
        );
        if ((await tab.signs()).state === "scalars") {
          await tab.test("catalogue").waitFor();
          assert.match(await tab.text("scalars-only"), /zt\.watch\(model, optimizer/);
        }
      }
      assert.deepEqual(tab.errors, []);
    } finally {
      await tab.close();
      await server.stop();
    }
  });
