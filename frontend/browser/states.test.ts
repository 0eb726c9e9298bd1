/** Every state of the tab in TensorBoard's own page: a picture, nothing, scalars only, trouble; narrow, and by keyboard. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch } from "./chromium.ts";
import {
  demoRuns,
  MODES,
  oddRun,
  type Running,
  temporaryDirectory,
  tensorboard,
  training,
} from "./processes.ts";
import { type Look, Tab } from "./tab.ts";

const directory = temporaryDirectory();
const logdirs = { demo: "demo", empty: "empty", scalars: "scalars" } as const;
let browser: Browser;

before(async () => {
  const [demo, empty, scalars] = Object.values(logdirs).map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(empty);
  browser = await launch();
  await demoRuns(demo);
  await oddRun("scalars", join(demo, "other"));
  await oddRun("newer", join(demo, "newer"));
  await oddRun("device", join(demo, "device"));
  await oddRun("mixed", join(demo, "mixed"));
  await oddRun("resumed", join(demo, "resumed"));
  await oddRun("began_again", join(demo, "began_again"));
  await oddRun("scalars", join(scalars, "other"));
});
after(async () => {
  await browser?.close();
  directory.remove();
});

for (const mode of MODES)
  describe(mode, () => {
    const servers: Partial<Record<keyof typeof logdirs, Running & { address: string }>> = {};
    before(async () => {
      for (const name of Object.keys(logdirs) as (keyof typeof logdirs)[])
        servers[name] = await tensorboard(join(directory.path, logdirs[name]), mode);
    });
    after(() => Promise.all(Object.values(servers).map((server) => server.stop())));

    /** A test in a new tab, which must end without an error in the console. */
    const inTab = (
      name: string,
      logdir: keyof typeof logdirs,
      look: Look,
      body: (tab: Tab) => Promise<void>,
    ) =>
      test(name, async () => {
        const tab = await Tab.open(browser, servers[logdir]!.address, look);
        await body(tab);
        assert.deepEqual(tab.errors, []);
        await tab.close();
      });

    inTab(
      "an empty logdir says what was looked for, where, and the call that fills it",
      "empty",
      {},
      async (tab) => {
        await tab.until(`d.state === "empty"`);
        const text = await tab.text("empty");
        assert.match(text, /No runs in this logdir yet/);
        assert(text.includes(join(directory.path, "empty")));
        assert.match(text, /zt\.watch\(model, optimizer/);
        assert.equal(await tab.test("cursor-play").isDisabled(), true);
      },
    );

    inTab("a logdir of other writers says what they wrote", "scalars", {}, async (tab) => {
      await tab.until(`d.state === "empty"`);
      assert.match(await tab.text("empty"), /3 scalar tags of other writers/);
    });

    inTab(
      "a run of another writer says what was found in it",
      "demo",
      { link: { run: "mixed" } },
      async (tab) => {
        await tab.until(`d.state === "scalars"`);
        await tab.test("catalogue").waitFor();
        const rows = await tab.test("catalogue").locator("tbody tr").allTextContents();
        assert.deepEqual(rows, [
          "scalars240train/loss, validation/lossTime Series",
          "histograms120fc.weightTime Series",
          "text120configText",
          "images120sampleTime Series",
        ]);
        assert.match(await tab.text("scalars-only"), /zt\.watch\(model, optimizer/);
      },
    );

    inTab("a run that was picked where none is traced says what it holds", "scalars", {}, async (tab) => {
      await tab.until(`d.state === "empty"`);
      await tab.frame.locator("[data-run=other]").click();
      await tab.until(`d.state === "scalars"`);
      await tab.test("catalogue").waitFor();
      assert.match(await tab.text("catalogue"), /scalars360accuracy, learning_rate, loss/);
    });

    inTab(
      "a restart is marked, and what it overwrote can be shown, linked and left again",
      "demo",
      { link: { run: "resumed" } },
      async (tab) => {
        const now = await tab.picture();
        assert.equal(now.lastStep, "1190");
        const mark = tab.test("restart-1");
        await mark.waitFor();
        assert.equal(await mark.textContent(), "restart, 20 samples superseded");
        await mark.click();
        assert.match(await tab.text("sessions"), /Steps 600 to 790 were superseded since, 20 samples\./);
        await tab.changing("lastStep", () => tab.test("show-until-0").click());
        assert.equal((await tab.signs()).lastStep, "790");
        assert.match(await tab.text("past"), /^As the run stood before session 2 began/);
        await tab.page.waitForURL((url) => url.hash.includes("until=0"));
        const elsewhere = await tab.openLinkElsewhere(browser);
        assert.equal((await elsewhere.picture()).lastStep, "790");
        assert.deepEqual(elsewhere.errors, []);
        await elsewhere.close();
        await tab.changing("lastStep", () => tab.test("past-back").click());
        assert.equal((await tab.signs()).lastStep, "1190");
        await tab.page.waitForURL((url) => !url.hash.includes("until"));
      },
    );

    inTab(
      "sessions whose counter began again can be laid one behind the other, by keyboard too",
      "demo",
      { link: { run: "began_again" } },
      async (tab) => {
        assert.equal((await tab.picture()).lastStep, "390");
        const mark = tab.test("restart-1");
        await mark.waitFor();
        assert.equal(await mark.textContent(), "counter began again, 1 session hidden");
        await mark.focus();
        await tab.page.keyboard.press("Enter");
        await tab.test("shift").focus();
        await tab.changing("lastStep", () => tab.page.keyboard.press("Enter"));
        assert.equal((await tab.signs()).lastStep, "1181");
        assert.match(await tab.text("shifted"), /791 is added to the steps of session 2/);
        await tab.page.waitForURL((url) => url.hash.includes("shift=1"));
        await tab.changing("paintedRun", () => tab.frame.locator("[data-run=resumed]").click());
        assert.equal(await tab.test("shifted").count(), 0, "another run is shown as it stands");
      },
    );

    inTab("a run of scalars among traced ones says so", "demo", { link: { run: "other" } }, async (tab) => {
      await tab.until(`d.state === "scalars"`);
      assert.match(await tab.text("scalars-only"), /other holds scalars only/);
    });

    inTab(
      "a file that cannot be read is told in its run's place, others stay",
      "demo",
      { link: { run: "device" } },
      async (tab) => {
        await tab.until(`d.state === "error"`);
        assert.match(await tab.text("error"), /The file is a device, not a regular file, and is not read\./);
        await tab.frame.locator("[data-run='digits/healthy']").click();
        await tab.picture();
      },
    );

    inTab("a newer format is told among the oddities", "demo", {}, async (tab) => {
      await tab.picture();
      assert.match(await tab.text("oddities"), /newer: .*Written in format 2, this version reads up to 1/s);
      await tab.test("all-oddities").click();
      const list = await tab.test("oddity-list").textContent();
      assert.match(list ?? "", /newer\/zentracer\/events\.out\.tfevents\.[^,]+, byte \d+/);
      assert.match(list ?? "", /The file is a device/);
      await tab.page.keyboard.press("Escape");
      await tab.test("oddity-list").waitFor({ state: "detached" });
    });

    inTab("a run that is not there is told", "demo", { link: { run: "gone" } }, async (tab) => {
      await tab.until(`d.state === "error"`);
      assert.match(await tab.text("error"), /There is no run 'gone' in this logdir/);
    });

    inTab(
      "a run that went to NaN is marked in the picker and counted in the legend",
      "demo",
      { link: { run: "digits/too_large" } },
      async (tab) => {
        await tab.picture();
        const run = tab.frame.locator("[data-run='digits/too_large']");
        assert.match((await run.getAttribute("data-state")) ?? "", /NaN/);
        assert.match(await tab.text("legend-nan"), /NaN[\d,]+cells/);
      },
    );

    inTab(
      "at 820 px the picker waits behind its button",
      "demo",
      { width: 820, height: 900 },
      async (tab) => {
        await tab.picture();
        assert.equal(await tab.test("run-picker").count(), 0);
        await tab.test("open-runs").click();
        await tab.changing("paintedRun", () => tab.frame.locator("[data-run='text/frozen_block']").click());
        assert.equal(await tab.test("run-picker").count(), 0);
        const overflow = await tab.frame.evaluate(
          () => document.documentElement.scrollWidth - window.innerWidth,
        );
        assert(overflow <= 0, `the tab is ${overflow} px too wide`);
      },
    );

    inTab("everything can be reached by keyboard", "demo", { link: { run: "text/healthy" } }, async (tab) => {
      const { keyboard } = tab.page;
      await tab.picture();
      await tab.frame.locator("body").focus();
      await tab.changing("window", () => keyboard.press("="));
      await tab.changing("window", () => keyboard.press("0"));
      const first = await tab.changing("cursor", () => keyboard.press("Home"));
      assert.equal(first.cursor, "0");
      await tab.changing("cursor", () => keyboard.press("Shift+ArrowRight"));
      await tab.name("blocks").focus();
      await keyboard.press("ArrowLeft");
      await tab.frame.waitForSelector("[data-path=blocks][aria-expanded=false]");
      await keyboard.press("ArrowRight");
      await tab.frame.waitForSelector("[data-path=blocks][aria-expanded=true]");
      await tab.test("statistic").focus();
      await keyboard.press("Enter");
      await keyboard.press("End");
      await tab.changing("paintedStatistic", () => keyboard.press("Enter"));
      await tab.frame.locator("[role=radio][aria-checked=true]").focus();
      await tab.changing("paintedRun", () => keyboard.press("ArrowUp"));
      await tab.frame.locator("body").focus();
      await keyboard.press("?");
      await tab.test("keys-help").waitFor();
      await keyboard.press("Escape");
      await tab.test("keys-help").waitFor({ state: "detached" });
    });
  });

test("the picture comes by itself when the first run of an empty logdir begins", async () => {
  const logdir = join(directory.path, "later");
  mkdirSync(logdir);
  const server = await tensorboard(logdir, "rust");
  const tab = await Tab.open(browser, server.address);
  await tab.until(`d.state === "empty"`);
  const trained = await training(join(logdir, "first"));
  await tab.picture();
  assert.deepEqual(tab.errors, []);
  await tab.close();
  await Promise.all([trained.stop(), server.stop()]);
});
