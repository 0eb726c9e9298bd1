/** The Weights tab in TensorBoard's own page, as a test sees it. Waits only for the signs that the tab gives. */

import assert from "node:assert/strict";
import type { Browser, Frame, Page } from "playwright-core";

export type Theme = "light" | "dark";

export interface Look {
  readonly theme?: Theme;
  readonly width?: number;
  readonly height?: number;
  /** Further entries of TensorBoard's address, as a link to the tab has them. */
  readonly link?: Readonly<Record<string, string>>;
}

/** What a link has to reopen. */
export interface View {
  readonly run: string | undefined;
  readonly statistic: string | undefined;
  readonly window: string | undefined;
  readonly cursor: string | undefined;
  readonly names: readonly string[];
}

export class Tab {
  private constructor(
    readonly page: Page,
    public frame: Frame,
    /** What the browser's console told as errors, TensorBoard's page included. */
    readonly errors: readonly string[],
  ) {}

  /** `prepare` sees the page before it goes anywhere. */
  static async open(
    browser: Browser,
    address: string,
    look: Look = {},
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Tab> {
    const { theme = "light", width = 1440, height = 900, link = {} } = look;
    const context = await browser.newContext({ viewport: { width, height } });
    const page = await context.newPage();
    await prepare?.(page);
    const entries = Object.entries(link).map(
      ([key, value]) => `&p.zentracer_weights.${key}=${encodeURIComponent(value)}`,
    );
    const url = `${address}?darkMode=${theme === "dark"}#zentracer_weights${entries.join("")}`;
    return Tab.visit(page, () => page.goto(url));
  }

  /** The same address in a browser that knows nothing of this one. */
  async openLinkElsewhere(browser: Browser): Promise<Tab> {
    const viewport = this.page.viewportSize();
    const page = await (await browser.newContext({ viewport })).newPage();
    return Tab.visit(page, () => page.goto(this.page.url()));
  }

  /** The same address in another window of the same browser. */
  async openWindow(): Promise<Tab> {
    const page = await this.page.context().newPage();
    return Tab.visit(page, () => page.goto(this.page.url()));
  }

  async reload(): Promise<void> {
    await this.page.reload();
    this.frame = await weightsFrame(this.page);
  }

  private static async visit(page: Page, go: () => Promise<unknown>): Promise<Tab> {
    const errors: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(`${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    await go();
    return new Tab(page, await weightsFrame(page), errors);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** The signs on the root element of the tab's document. */
  signs(): Promise<Record<string, string | undefined>> {
    return this.frame.evaluate(() => ({ ...document.documentElement.dataset }));
  }

  /** Resolves once `condition`, a JavaScript expression over the signs `d`, holds. */
  async until(condition: string): Promise<Record<string, string | undefined>> {
    try {
      await this.frame.waitForFunction(
        `(() => { const d = document.documentElement.dataset; return ${condition}; })()`,
      );
    } catch (error) {
      const state = JSON.stringify(await this.signs());
      throw new Error(`The tab never came to: ${condition}. It is at ${state}.`, { cause: error });
    }
    return this.signs();
  }

  /** Resolves once a picture stands and shows what was asked for last. */
  picture(): Promise<Record<string, string | undefined>> {
    return this.until(`d.state === "picture" && d.settled === "true"`);
  }

  /** Does `act` and resolves once the sign `key` has changed and the picture shows it. */
  async changing(key: string, act: () => Promise<unknown>): Promise<Record<string, string | undefined>> {
    const before = (await this.signs())[key];
    await act();
    return this.until(`d.${key} !== ${JSON.stringify(before)} && d.settled === "true"`);
  }

  test(id: string) {
    return this.frame.getByTestId(id);
  }

  async text(id: string): Promise<string> {
    return (await this.test(id).textContent()) ?? "";
  }

  name(path: string) {
    return this.frame.locator(`[data-testid=name][data-path="${path}"]`);
  }

  /** Page coordinates of a point of the cells, in parts of their width and height. */
  async cell(x: number, y: number): Promise<{ x: number; y: number }> {
    const box = await this.test("cells").boundingBox();
    assert(box, "there are no cells");
    return { x: box.x + x * box.width, y: box.y + y * box.height };
  }

  async view(): Promise<View> {
    const { paintedRun, paintedStatistic, window, cursor } = await this.picture();
    const names = await this.frame
      .locator("[data-testid=name]")
      .evaluateAll((all) =>
        all.map((each) => `${each.getAttribute("data-path")} ${each.getAttribute("aria-expanded")}`),
      );
    return { run: paintedRun, statistic: paintedStatistic, window, cursor, names };
  }
}

async function weightsFrame(page: Page): Promise<Frame> {
  const element = await page.waitForSelector("iframe[src*='name=zentracer_weights']");
  const frame = await element.contentFrame();
  assert(frame);
  await frame.waitForFunction(() => document.documentElement?.dataset.state !== undefined);
  return frame;
}
