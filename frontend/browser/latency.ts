/**
 * Tells when pixels change, one JSON line each: what `bench/live.py` holds its clock against.
 *
 *     node --import tsx browser/latency.ts ours|timeseries ADDRESS
 *
 * prints `{"at": ms since the epoch, "step": the last step on screen or null}`, first once the picture stands, and runs
 * until standard input closes. `timeseries` watches TensorBoard's own tab with automatic reload switched on.
 */

import { createInterface } from "node:readline";
import { launch } from "./chromium.ts";
import { Tab } from "./tab.ts";

const print = (at: number, step: number | null) => console.log(JSON.stringify({ at, step }));

const [what, address] = process.argv.slice(2);
const browser = await launch();
const closed = new Promise<void>((resolve) => createInterface({ input: process.stdin }).on("close", resolve));
if (what === "ours") await ours(address!);
else await timeseries(address!);
await browser.close();

/** Some lines of the cells, looked at after each paint; the time is that after the frame was drawn. */
async function ours(address: string): Promise<void> {
  const tab = await Tab.open(browser, address);
  await tab.picture();
  await tab.page.exposeFunction("told", print);
  await tab.frame.evaluate("globalThis.__name = (named) => named"); // tsx puts calls of it into what it compiles
  await tab.frame.evaluate(() => {
    const { told } = window as unknown as { told: (at: number, step: number) => void };
    let before = new Uint32Array();
    let paints: string | undefined;
    const look = () => {
      const signs = document.documentElement.dataset;
      const cells = document.querySelector<HTMLCanvasElement>("[data-testid=cells]");
      if (cells?.width && signs.paints !== paints) {
        paints = signs.paints;
        const lines = cells.getContext("2d")!;
        const now = new Uint32Array(10 * cells.width);
        for (let k = 0; k < 10; k++) {
          const y = Math.floor((cells.height * (k + 0.37)) / 10); // no beat of the rows: some lie between them
          now.set(new Uint32Array(lines.getImageData(0, y, cells.width, 1).data.buffer), k * cells.width);
        }
        if (now.length !== before.length || now.some((pixel, k) => pixel !== before[k])) {
          const step = Number(signs.lastStep);
          setTimeout(() => told(performance.timeOrigin + performance.now(), step));
        }
        before = now;
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await closed;
}

/** The first card, as pictures taken one after the other. */
async function timeseries(address: string): Promise<void> {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.addInitScript(() => {
    localStorage.setItem("_tb_global_settings", JSON.stringify({ autoReload: true }));
  });
  await page.goto(`${address}#timeseries`);
  const card = page.locator("scalar-card .chart-container, scalar-card").first();
  await card.waitFor();
  let open = true;
  void closed.then(() => {
    open = false;
  });
  let before: Buffer = Buffer.alloc(0);
  while (open) {
    const now = await card.screenshot({ animations: "disabled" });
    if (!now.equals(before)) print(Date.now(), null);
    before = now;
  }
}
