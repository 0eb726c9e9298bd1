/** Paints bands of cells into pixels. Pure: typed arrays in, typed array out, no allocation while it runs. */

import { pixel, SCALE_SIZE, type ScaleName, STOPS, scaleTable, type Theme } from "../../base/colour.ts";
import type { Span } from "../../base/span.ts";
import { MARK } from "./codes.ts";
import type { Cells } from "./contract.ts";

/** Packed pixels of a theme: the scale, and two inks a mark. */
export interface Palette {
  readonly scale: Uint32Array;
  readonly background: number;
  readonly unread: number;
  readonly nan: readonly [number, number];
  readonly inf: readonly [number, number];
  readonly missing: readonly [number, number];
}

const MARKS = {
  light: {
    background: "#ffffff",
    unread: "#f6f7f9",
    nan: ["#a626c9", "#cf8be2"],
    inf: ["#111111", "#b4bac1"],
    missing: ["#d9dde2", "#f6f7f9"],
  },
  dark: {
    background: "#1e1f22",
    unread: "#26282c",
    nan: ["#d07bea", "#8a4aa3"],
    inf: ["#ffffff", "#6f757d"],
    missing: ["#3a3d42", "#26282c"],
  },
} as const;

export function palette(theme: Theme, scale: ScaleName): Palette {
  const marks = MARKS[theme];
  const pair = ([a, b]: readonly [string, string]) => [pixel(a), pixel(b)] as const;
  return {
    scale: scaleTable(STOPS[scale][theme]),
    background: pixel(marks.background),
    unread: pixel(marks.unread),
    nan: pair(marks.nan),
    inf: pair(marks.inf),
    missing: pair(marks.missing),
  };
}

/** The pixel of a mark at (x, y) in CSS px: a colour and a pattern, so that nothing hangs on colour alone. */
export function markPixel(ink: Palette, mark: number, x: number, y: number): number {
  switch (mark) {
    case MARK.NAN:
      return ink.nan[(x + y) % 4 === 0 ? 1 : 0]!;
    case MARK.INF:
      return ink.inf[y % 3 === 2 ? 1 : 0]!;
    case MARK.MISSING:
      return ink.missing[(x + y) % 6 < 3 ? 0 : 1]!;
    case MARK.UNREAD:
      return ink.unread;
    default:
      return ink.background;
  }
}

/** Codes of an answer, and per node the rows that picture it. */
export interface Coded {
  readonly codes: Uint16Array;
  readonly cells: number;
  readonly edges: Float64Array;
  /** [nodes * 3] rows: largest, median, smallest; all three the same for a leaf. */
  readonly strata: Int32Array;
}

export function strataOf(cells: Pick<Cells, "nodes" | "rows">): Int32Array {
  const at = { largest: [0], median: [1], smallest: [2], value: [0, 1, 2], fold: [] } as const;
  const strata = new Int32Array(cells.nodes.length * 3).fill(-1);
  cells.rows.forEach(({ node, stratum }, row) => {
    for (const slot of at[stratum]) strata[node * 3 + slot] = row;
  });
  return strata;
}

/** What of a picture is painted where; x in device px, y and h in CSS px. */
export interface Scene {
  readonly span: Span;
  /** From the most detailed to the coarsest; a pixel takes the first that reaches it. */
  readonly sources: readonly Coded[];
  readonly bands: readonly { readonly node: number; readonly y: number; readonly h: number }[];
  /** Content y at the upper edge of the raster, in CSS px. */
  readonly scroll: number;
  readonly ink: Palette;
  /** Codes that an extreme must lie from the mean to take its place, see `spikeReach`. */
  readonly reach: number;
  /** What stands where no source reaches: `MARK.NOTHING` or `MARK.UNREAD`. */
  readonly outside: number;
}

export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  /** [height * width] */
  readonly pixels: Uint32Array;
  /** Scratch: the cells under each pixel column of each source, lines of codes, one line of pixels. */
  readonly first: Int32Array;
  readonly last: Int32Array;
  readonly lines: readonly [Uint16Array, Uint16Array, Uint16Array];
  readonly before: Uint16Array;
  readonly inked: Uint32Array;
}

const MAX_SOURCES = 2;

/** Room for a picture of `width` x `height` device px at `ratio` device px a CSS px. */
export function createRaster(width: number, height: number, ratio: number, pixels: Uint32Array): Raster {
  const line = () => new Uint16Array(width);
  return {
    width,
    height,
    ratio,
    pixels,
    first: new Int32Array(width * MAX_SOURCES),
    last: new Int32Array(width * MAX_SOURCES),
    lines: [line(), line(), line()],
    before: line(),
    inked: new Uint32Array(width),
  };
}

/** A mark is at least this wide, in CSS px. */
export const MARK_PX = 3;

const EDGE = 0.27;

export function paint(raster: Raster, scene: Scene): void {
  const { width, height, ratio, pixels, lines } = raster;
  const [largest, median, smallest] = lines;
  pixels.fill(scene.ink.background);
  scene.sources.forEach((source, index) => {
    columnsOf(source.edges, scene.span, width, raster.first, raster.last, index * width);
  });
  for (let k = firstVisible(scene); k < scene.bands.length; k++) {
    const band = scene.bands[k]!;
    const top = Math.round((band.y - scene.scroll) * ratio);
    const bottom = Math.round((band.y + band.h - scene.scroll) * ratio);
    if (top >= height) break;
    const h = bottom - top;
    resolve(raster, scene, band.node * 3, largest);
    if (isLeaf(scene, band.node)) {
      widen(largest, raster.before, MARK_PX * ratio);
      fill(raster, scene, largest, top, bottom);
      continue;
    }
    resolve(raster, scene, band.node * 3 + 1, median);
    resolve(raster, scene, band.node * 3 + 2, smallest);
    raiseMarks(largest, median, smallest, width);
    if (h < 3) {
      mostTelling(largest, median, smallest, width, scene.reach);
      widen(largest, raster.before, MARK_PX * ratio);
      fill(raster, scene, largest, top, bottom);
      continue;
    }
    for (const line of lines) widen(line, raster.before, MARK_PX * ratio);
    const edge = Math.max(1, Math.round(h * EDGE));
    fill(raster, scene, largest, top, top + edge);
    fill(raster, scene, median, top + edge, bottom - edge);
    fill(raster, scene, smallest, bottom - edge, bottom);
  }
}

/**
 * The cells [first, last] under each of `width` pixel columns, -1 where there is none; written from `offset` on.
 *
 * A cell counts where it covers over a hundredth of the pixel: window and bins that agree but for rounding map
 * one to one.
 */
export function columnsOf(
  edges: Float64Array,
  span: Span,
  width: number,
  first: Int32Array,
  last: Int32Array,
  offset = 0,
): void {
  const cells = edges.length - 1;
  const step = (span.to - span.from) / width;
  const slack = step / 100;
  let a = 0;
  let b = 0;
  for (let x = 0; x < width; x++) {
    const left = span.from + x * step + slack;
    const right = span.from + (x + 1) * step - slack;
    while (a < cells && edges[a + 1]! <= left) a++;
    if (b < a) b = a;
    while (b + 1 < cells && edges[b + 1]! < right) b++;
    const outside = a >= cells || edges[a]! >= right;
    first[offset + x] = outside ? -1 : a;
    last[offset + x] = outside ? -1 : b;
  }
}

function firstVisible(scene: Scene): number {
  let low = 0;
  let high = scene.bands.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const band = scene.bands[middle]!;
    if (band.y + band.h <= scene.scroll) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isLeaf(scene: Scene, node: number): boolean {
  const strata = scene.sources[0]?.strata;
  return !strata || strata[node * 3] === strata[node * 3 + 1];
}

/** One line of codes: for each pixel what its cells come to. */
function resolve(raster: Raster, scene: Scene, stratum: number, line: Uint16Array): void {
  const { width, first, last } = raster;
  line.fill(scene.outside);
  for (let s = scene.sources.length - 1; s >= 0; s--) {
    const source = scene.sources[s]!;
    const row = source.strata[stratum] ?? -1;
    if (row < 0) continue;
    const { codes } = source;
    const start = row * source.cells;
    const offset = s * width;
    for (let x = 0; x < width; x++) {
      const a = first[offset + x]!;
      if (a < 0) continue;
      const b = last[offset + x]!;
      line[x] = a === b ? codes[start + a]! : merge(codes, start + a, start + b, scene.reach);
    }
  }
}

/** Several cells in one pixel: the highest mark; of values the mean, or the extreme that lies far from it. */
function merge(codes: Uint16Array, from: number, to: number, reach: number): number {
  let mark = 0;
  let n = 0;
  let sum = 0;
  let low = SCALE_SIZE;
  let high = -1;
  for (let i = from; i <= to; i++) {
    const code = codes[i]!;
    if (code >= SCALE_SIZE) {
      if (code > mark) mark = code;
      continue;
    }
    n++;
    sum += code;
    if (code < low) low = code;
    if (code > high) high = code;
  }
  if (mark >= MARK.INF || n === 0) return mark;
  const mean = sum / n;
  if (high - mean > reach) return high;
  if (mean - low > reach) return low;
  return Math.round(mean);
}

/** NaN or Inf in any tensor of a folded group takes its top stratum. */
function raiseMarks(top: Uint16Array, middle: Uint16Array, bottom: Uint16Array, width: number): void {
  for (let x = 0; x < width; x++) {
    const mark = Math.max(
      top[x]! >= MARK.INF ? top[x]! : 0,
      middle[x]! >= MARK.INF ? middle[x]! : 0,
      bottom[x]! >= MARK.INF ? bottom[x]! : 0,
    );
    if (mark) top[x] = mark;
  }
}

/** Too low for strata: the median, or the end that lies far from it; an average would hide the one bad tensor. */
function mostTelling(
  top: Uint16Array,
  middle: Uint16Array,
  bottom: Uint16Array,
  width: number,
  reach: number,
): void {
  for (let x = 0; x < width; x++) {
    const m = middle[x]!;
    if (top[x]! >= SCALE_SIZE) continue;
    const above = top[x]! - m;
    const below = bottom[x]! < SCALE_SIZE ? m - bottom[x]! : 0;
    if (above > reach && above >= below) continue;
    top[x] = below > reach ? bottom[x]! : m;
  }
}

/**
 * Makes every run of a mark at least `least` px wide, at the cost of values and of lesser marks beside it. What is
 * outside of the run stays. `before` is scratch of the same length.
 */
export function widen(line: Uint16Array, before: Uint16Array, least: number): void {
  before.set(line);
  const width = line.length;
  const wide = Math.ceil(least);
  for (let start = 0; start < width; ) {
    const mark = before[start]!;
    let end = start + 1;
    while (end < width && before[end] === mark) end++;
    const lacking = wide - (end - start);
    if (mark >= MARK.MISSING && lacking > 0) {
      const right = Math.min(width, end + Math.ceil(lacking / 2));
      const left = Math.max(0, right - wide);
      const to = Math.min(width, left + wide);
      for (let x = left; x < to; x++) if (yields(line[x]!, mark)) line[x] = mark;
    }
    start = end;
  }
}

const yields = (code: number, mark: number): boolean =>
  code < SCALE_SIZE || (code > MARK.UNREAD && code < mark);

/** Inks one line of codes into the pixel rows [top, bottom). */
function fill(raster: Raster, scene: Scene, line: Uint16Array, top: number, bottom: number): void {
  const { width, height, ratio, pixels, inked } = raster;
  const { ink } = scene;
  const y0 = Math.max(0, top);
  const y1 = Math.min(height, bottom);
  if (y0 >= y1) return;
  let marked = false;
  for (let x = 0; x < width; x++) {
    const code = line[x]!;
    if (code < SCALE_SIZE) inked[x] = ink.scale[code]!;
    else marked = true;
  }
  for (let y = y0; y < y1; y++) {
    if (marked) {
      const cssY = Math.floor(y / ratio + scene.scroll);
      for (let x = 0; x < width; x++) {
        const code = line[x]!;
        if (code >= SCALE_SIZE) inked[x] = markPixel(ink, code, Math.floor(x / ratio), cssY);
      }
    }
    pixels.set(inked, y * width);
  }
}
