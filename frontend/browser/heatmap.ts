/**
 * Times the picture of a run in a browser: `node --import tsx browser/heatmap.ts ADDRESS RUN LOADS`.
 *
 * Prints one JSON object: `first_paint_ms` of each load, from the navigation of the panel's frame to its first picture,
 * and `frames_ms` while the picture is panned and zoomed: from when a frame was due until the page has done its part of
 * it, work that came in between included. Frames in which nothing was painted count only where they are long.
 */

import { launch } from "./chromium.ts";
import { Tab } from "./tab.ts";

const [address, run, loads] = process.argv.slice(2) as [string, string, string];
const MOVES = 60;
const WHEELS = 12;
const LONG_MS = 16;

const browser = await launch();
const first: number[] = [];
let frames: number[] = [];
for (let load = 0; load < Number(loads); load++) {
  const tab = await Tab.open(browser, address, { link: { run } });
  await tab.picture();
  first.push(await tab.frame.evaluate(() => performance.getEntriesByName("first picture")[0]!.startTime));
  if (load === 0) frames = await moved(tab);
  await tab.close();
}
await browser.close();
console.log(JSON.stringify({ first_paint_ms: first, frames_ms: frames }));

/** Frames while the wheel zooms in, drags pan there and back, and the wheel zooms out again. */
async function moved(tab: Tab): Promise<number[]> {
  const { page } = tab;
  await tab.frame.evaluate(watchFrames, LONG_MS);
  const middle = await tab.cell(0.5, 0.5);
  await page.mouse.move(middle.x, middle.y);
  await wheel(tab, -120);
  for (const way of [-300, 300]) {
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x + way, middle.y, { steps: MOVES });
    await page.mouse.up();
    await tab.picture();
  }
  await wheel(tab, 120);
  return tab.frame.evaluate(() => (window as unknown as { frames: number[] }).frames);
}

/** Each turn of the wheel is a question of its own: it waits until its answer is painted. */
async function wheel(tab: Tab, delta: number): Promise<void> {
  for (let turn = 0; turn < WHEELS; turn++) {
    await tab.page.mouse.wheel(0, delta);
    await tab.picture();
  }
}

/** Runs in the page. Methods, because the loader gives functions names by a helper that the page has not. */
function watchFrames(long_ms: number): void {
  const frames: number[] = [];
  const { dataset } = document.documentElement;
  const { port1, port2 } = new MessageChannel();
  let [due, paints] = [0, dataset.paints];
  const watcher = {
    /** Comes first in each frame, since it was asked for in the one before. */
    begin(time: number) {
      due = time;
      port2.postMessage(null);
      requestAnimationFrame(watcher.begin);
    },
    /** The next task after the frame. */
    end() {
      const spent = performance.now() - due;
      if (dataset.paints !== paints || spent > long_ms) frames.push(spent);
      paints = dataset.paints;
    },
  };
  port1.onmessage = watcher.end;
  Object.assign(window, { frames });
  requestAnimationFrame(watcher.begin);
}
