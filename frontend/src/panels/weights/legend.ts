/** What the legend shows: the distribution on the colours' axis, ticks along it, and the marks with their counts. */

import { powerOfTen, whole } from "../../base/numbers.ts";
import { linearTicks } from "../../base/ticks.ts";
import type { LegendKey, LegendTick } from "../../widgets/legend.tsx";
import { MARK } from "./codes.ts";
import type { ColumnInfo, Distribution } from "./contract.ts";
import { type ColourAxis, fraction, fractionAt } from "./limits.ts";
import { markPixel, type Palette } from "./palette.ts";
import { formatValue } from "./statistics.ts";

/** Of the face that numbers are written in, and what is left free between two. */
const CHARACTER_PX = 6.6;
const APART_PX = 6;

/**
 * Heights, 0 to 1, of `bins` equal bins along the axis: the square root of their share of the fullest one. The first
 * and last collect what lies outside, the first also zeros, whose colour they have; they are cut, and not counted
 * for the fullest, so that a frozen block does not flatten everything else.
 */
export function histogram(distribution: Distribution, axis: ColourAxis, bins: number): number[] {
  const mass = new Float64Array(bins);
  const { low, high, counts } = distribution;
  const step = (high - low) / counts.length;
  counts.forEach((count, k) => {
    if (!count) return;
    const from = fractionAt(axis, low + k * step) * bins;
    const to = fractionAt(axis, low + (k + 1) * step) * bins;
    spread(mass, count, from, to);
  });
  if (axis.log) mass[0]! += distribution.zeros;
  const inner = Math.max(...mass.slice(1, -1));
  const fullest = inner > 0 ? inner : Math.max(...mass);
  return [...mass].map((share) => (share > 0 ? Math.min(1, Math.sqrt(share / fullest)) : 0));
}

/** Divides `count` among the bins that [from, to) overlaps; what lies outside goes to the ends. */
function spread(mass: Float64Array, count: number, from: number, to: number): void {
  const last = mass.length - 1;
  const a = Math.min(last, Math.max(0, Math.floor(from)));
  const b = Math.min(last, Math.max(0, Math.ceil(to) - 1));
  if (a >= b) {
    mass[a]! += count;
    return;
  }
  for (let k = a; k <= b; k++) {
    const left = k === a ? from : k;
    const right = k === b ? to : k + 1;
    mass[k]! += (count * (right - left)) / (to - from);
  }
}

/** Decades, or round values, with room between them on a bar of `width_px`; the ends say what they collect. */
export function legendTicks(axis: ColourAxis, column: ColumnInfo, width_px: number): LegendTick[] {
  const wide = (text: string) => (text.length * CHARACTER_PX + APART_PX) / width_px;
  const low: LegendTick = { at: 0, text: `≤ ${endText(axis, column, axis.low)}`, align: "left" };
  const high: LegendTick = { at: 1, text: `≥ ${endText(axis, column, axis.high)}`, align: "right" };
  const taken: [number, number][] = [
    [0, wide(low.text)],
    [1 - wide(high.text), 1],
  ];
  const inner: LegendTick[] = [];
  const between = axis.log ? decades(axis) : linearTicks(axis.low, axis.high, 4);
  // The centre first: of two that touch, the one that means something stays.
  const distance = (value: number) => Math.abs(value - (axis.centre ?? value));
  for (const value of between.sort((a, b) => distance(a) - distance(b))) {
    const text = axis.log ? powerOfTen(value) : formatValue(column, value);
    const at = fractionAt(axis, value);
    const [from, to] = [at - wide(text) / 2, at + wide(text) / 2];
    if (taken.some(([a, b]) => from < b && to > a)) continue;
    taken.push([from, to]);
    inner.push({ at, text, align: "middle" });
  }
  return [low, ...inner.sort((a, b) => a.at - b.at), high];
}

function decades(axis: ColourAxis): number[] {
  const found: number[] = [];
  for (let exponent = Math.ceil(axis.low); exponent <= axis.high; exponent++) found.push(exponent);
  return found;
}

/** A limit: `1e−5` at a whole decade, else as its statistic is written. */
export function endText(axis: ColourAxis, column: ColumnInfo, at: number): string {
  if (!axis.log) return formatValue(column, at);
  const near = Math.round(at);
  if (Math.abs(at - near) < 1e-6) return powerOfTen(near);
  return formatValue(column, 10 ** at);
}

/** The marks that occur, and always those of which one wants to know that they do not. */
export function legendKeys(
  distribution: Distribution,
  axis: ColourAxis,
  ink: Palette,
  folded: boolean,
  brief: boolean,
): LegendKey[] {
  const mark = (code: number) => (x: number, y: number) => markPixel(ink, code, x, y);
  const cells = (count: number) => ({
    count: whole(count),
    ...(!brief && { unit: count === 1 ? "cell" : "cells" }),
  });
  const { nan, pinf, ninf, missing, zeros } = distribution;
  const keys: LegendKey[] = [{ id: "nan", text: "NaN", ...cells(nan), pixel: mark(MARK.NAN) }];
  const signs = pinf && ninf ? "±Inf" : ninf ? "−Inf" : "+Inf";
  keys.push({ id: "inf", text: signs, ...cells(pinf + ninf), pixel: mark(MARK.INF) });
  keys.push({ id: "missing", text: "not recorded", ...cells(missing), pixel: mark(MARK.MISSING) });
  if (zeros && axis.log)
    keys.push({ id: "zero", text: "exactly 0", ...cells(zeros), pixel: () => ink.scale[0]! });
  if (folded) {
    const strata = [0.75, 0.6, 0.2].map((at) => ink.scale[Math.floor(at * (ink.scale.length - 1))]!);
    keys.push({
      id: "folded",
      text: brief ? "folded" : "folded: largest, median, least",
      pixel: (_, y) => strata[y < 3 ? 0 : y < 7 ? 1 : 2]!,
    });
  }
  return keys;
}

/** Where a value lies on the bar, for the triangle that follows the pointer; null beside any value. */
export function barPlace(axis: ColourAxis, value: number | undefined): number | null {
  if (value === undefined || Number.isNaN(value)) return null;
  return Math.min(1, Math.max(0, fraction(axis, value)));
}
