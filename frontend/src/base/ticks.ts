/** Where the marks of an axis stand. */

import type { Span } from "./span.ts";

const NICE = [1, 2, 4, 5, 8, 10];

/** Whole steps at a round distance, at least `gap_px` apart on an axis `width_px` wide. */
export function stepTicks(span: Span, width_px: number, gap_px = 110): number[] {
  const wanted = Math.max(1, Math.floor(width_px / gap_px));
  const distance = niceDistance(Math.max(1, (span.to - span.from) / wanted));
  const ticks: number[] = [];
  for (let k = Math.ceil(span.from / distance); k * distance <= span.to; k++) ticks.push(k * distance);
  return ticks;
}

/** Round values from `low` to `high`, about `wanted` of them. */
export function linearTicks(low: number, high: number, wanted: number): number[] {
  const distance = niceDistance((high - low) / wanted);
  const ticks: number[] = [];
  const slack = distance * 1e-9;
  for (let k = Math.ceil((low - slack) / distance); k * distance <= high + slack; k++)
    ticks.push(k * distance);
  return ticks;
}

/** The round number at or above `distance`. */
export function niceDistance(distance: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(distance) + 1e-12);
  return NICE.find((nice) => nice * magnitude >= distance * (1 - 1e-9))! * magnitude;
}
