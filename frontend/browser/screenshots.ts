/** Takes the pictures in docs/pictures from the demo runs: `make screenshots`. */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.ts";
import { temporaryDirectory, tensorboard } from "./processes.ts";
import { type Look, Tab, type Theme } from "./tab.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PICTURES = join(ROOT, "docs/pictures");
const THEMES: readonly Theme[] = ["light", "dark"];

interface Picture {
  readonly name: string;
  readonly logdir: "runs" | "empty";
  readonly look: Look;
  /** The pointer rests here, in parts of the cells. */
  readonly pointer?: readonly [number, number];
}

const pictures: readonly Picture[] = [
  {
    name: "weights",
    logdir: "runs",
    look: { link: { run: "text/healthy", step: "600" } },
    pointer: [0.42, 0.62],
  },
  { name: "too-large", logdir: "runs", look: { link: { run: "digits/too_large" } } },
  { name: "too-small", logdir: "runs", look: { link: { run: "digits/too_small" } } },
  { name: "digits", logdir: "runs", look: { link: { run: "digits/healthy" } } },
  { name: "frozen", logdir: "runs", look: { link: { run: "text/frozen_block" } } },
  { name: "resumed", logdir: "runs", look: { link: { run: "digits/resumed" } } },
  { name: "earlier", logdir: "runs", look: { link: { run: "digits/resumed", until: "0" } } },
  { name: "narrow", logdir: "runs", look: { width: 820, link: { run: "text/healthy", step: "600" } } },
  { name: "empty", logdir: "empty", look: {} },
];

mkdirSync(PICTURES, { recursive: true });
const empty = temporaryDirectory();
const browser = await launch();
const servers = {
  runs: await tensorboard(join(ROOT, "runs"), "rust"),
  empty: await tensorboard(empty.path, "rust"),
};
try {
  for (const { name, logdir, look, pointer } of pictures)
    for (const theme of THEMES) {
      const tab = await Tab.open(browser, servers[logdir].address, { ...look, theme });
      await (logdir === "empty" ? tab.until(`d.state === "empty"`) : tab.picture());
      await tab.frame.evaluate(() => document.fonts.ready);
      if (pointer) {
        const at = await tab.cell(...pointer);
        await tab.page.mouse.move(at.x, at.y);
        await tab.frame.waitForFunction(() => {
          const text = document.querySelector("[data-testid=readout]")?.textContent;
          return text?.includes("weight norm") && !text.includes("…"); // which stands for what is still asked for
        });
      }
      const path = join(PICTURES, `${name}-${theme}.png`);
      await tab.page.screenshot({ path });
      console.log(path);
      await tab.close();
    }
} finally {
  await Promise.all([browser.close(), servers.runs.stop(), servers.empty.stop()]);
  empty.remove();
}
