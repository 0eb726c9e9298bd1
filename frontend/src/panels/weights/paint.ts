/** Paints bands of cells into pixels. Pure: typed arrays in, typed array out, no allocation while it runs. */

import { SCALE_SIZE } from "../../base/colour.ts";
import type { Span } from "../../base/span.ts";
import { MARK } from "./codes.ts";
import { markPixel, type Palette } from "./palette.ts";
import { type Coded, STRATA, TELLING } from "./strata.ts";

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
  /** Scratch: the cells under each pixel column of each source, a line of codes, and of pixels. */
  readonly first: Int32Array;
  readonly last: Int32Array;
  /** [sources] of the pixel columns that each reaches. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly line: Uint16Array;
  readonly before: Uint16Array;
  readonly inked: Uint32Array;
}

const MAX_SOURCES = 2;

/** Room for a picture of `width` x `height` device px at `ratio` device px a CSS px. */
export function createRaster(width: number, height: number, ratio: number, pixels: Uint32Array): Raster {
  return {
    width,
    height,
    ratio,
    pixels,
    first: new Int32Array(width * MAX_SOURCES),
    last: new Int32Array(width * MAX_SOURCES),
    starts: new Int32Array(MAX_SOURCES),
    ends: new Int32Array(MAX_SOURCES),
    line: new Uint16Array(width),
    before: new Uint16Array(width),
    inked: new Uint32Array(width),
  };
}

/** A mark is at least this wide, in CSS px. */
export const MARK_PX = 3;

const EDGE = 0.27;

export function paint(raster: Raster, scene: Scene): void {
  const { width, height, ratio, pixels } = raster;
  pixels.fill(scene.ink.background);
  scene.sources.forEach((source, index) => {
    columnsOf(source.edges, scene.span, width, raster.first, raster.last, index * width);
  });
  shareColumns(raster, scene.sources.length);
  for (let k = firstVisible(scene); k < scene.bands.length; k++) {
    const { node, y, h } = scene.bands[k]!;
    const top = Math.round((y - scene.scroll) * ratio);
    const bottom = Math.round((y + h - scene.scroll) * ratio);
    if (top >= height) break;
    const first = node * STRATA;
    if (bottom - top < 3 || isLeaf(scene, first)) {
      paintLine(raster, scene, first + TELLING, top, bottom);
      continue;
    }
    const edge = Math.max(1, Math.round((bottom - top) * EDGE));
    paintLine(raster, scene, first, top, top + edge);
    paintLine(raster, scene, first + 1, top + edge, bottom - edge);
    paintLine(raster, scene, first + 2, bottom - edge, bottom);
  }
}

/** One row of cells into the pixel rows [top, bottom). */
function paintLine(raster: Raster, scene: Scene, stratum: number, top: number, bottom: number): void {
  const marked = resolve(raster, scene, stratum);
  if (marked) widen(raster.line, raster.before, MARK_PX * raster.ratio);
  fill(raster, scene, marked, top, bottom);
}

/**
 * The cells [first, last] of each of `width` pixel columns, -1 where there is none; written from `offset` on.
 *
 * A pixel takes the cells whose centre it holds, and the one that holds its own centre. So no cell is lost, however
 * narrow, and cells as wide as pixels map one to one, wherever between the pixels their edges lie.
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
  let next = 0; // the first cell whose centre lies at or right of the pixel's left edge
  let under = 0; // the last cell that begins at or left of the pixel's centre
  for (let x = 0; x < width; x++) {
    const left = span.from + x * step;
    const right = left + step;
    const middle = left + step / 2;
    while (next < cells && edges[next]! + edges[next + 1]! < 2 * left) next++;
    let a = next;
    while (next < cells && edges[next]! + edges[next + 1]! < 2 * right) next++;
    let b = next - 1;
    while (under + 1 < cells && edges[under + 1]! <= middle) under++;
    if (edges[under]! <= middle && middle < edges[under + 1]!) {
      if (a > b) a = b = under;
      else if (under < a) a = under;
      else if (under > b) b = under;
    }
    first[offset + x] = a > b ? -1 : a;
    last[offset + x] = a > b ? -1 : b;
  }
}

/** Takes the pixels of each source from those behind it, and notes where each begins and ends. */
function shareColumns({ width, first, starts, ends }: Raster, sources: number): void {
  for (let s = 0; s < sources; s++) {
    let start = width;
    let end = 0;
    for (let x = 0; x < width; x++) {
      for (let before = 0; before < s; before++)
        if (first[before * width + x]! >= 0) first[s * width + x] = -1;
      if (first[s * width + x]! < 0) continue;
      if (x < start) start = x;
      end = x + 1;
    }
    starts[s] = start;
    ends[s] = end;
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

function isLeaf(scene: Scene, stratum: number): boolean {
  const strata = scene.sources[0]?.strata;
  return !strata || strata[stratum] === strata[stratum + 1];
}

/** Fills `raster.line`: for each pixel what its cells come to. Tells whether there is any mark in it. */
function resolve(raster: Raster, scene: Scene, stratum: number): boolean {
  const { first, last, starts, ends, line } = raster;
  line.fill(scene.outside);
  let reached = 0;
  let highest = 0;
  for (let s = 0; s < scene.sources.length; s++) {
    const source = scene.sources[s]!;
    const { codes, cells, strata } = source;
    const start = (strata[stratum] ?? -1) * cells;
    if (start < 0) continue;
    const offset = s * line.length;
    const end = ends[s]!;
    for (let x = starts[s]!; x < end; x++) {
      const a = first[offset + x]!;
      if (a < 0) continue;
      const b = last[offset + x]!;
      const code = a === b ? codes[start + a]! : merge(codes, start + a, start + b, scene.reach);
      line[x] = code;
      if (code > highest) highest = code;
      reached++;
    }
  }
  return highest >= SCALE_SIZE || reached < line.length;
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

/** Inks `raster.line` into the pixel rows [top, bottom). */
function fill(raster: Raster, scene: Scene, marked: boolean, top: number, bottom: number): void {
  const { width, height, ratio, pixels, inked, line } = raster;
  const { ink } = scene;
  const y0 = Math.max(0, top);
  const y1 = Math.min(height, bottom);
  for (let x = 0; x < width; x++) inked[x] = ink.scale[line[x]!]!; // what lies beyond the scale is inked below
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
