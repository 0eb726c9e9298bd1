/** Finds things in rising sequences. */

/** Index of the last entry <= `value`, or -1. */
export function atOrBefore(rising: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the entry closest to `value`, the earlier one of two as close; -1 where there is none. */
export function nearest(rising: ArrayLike<number>, value: number): number {
  const before = atOrBefore(rising, value);
  const after = before + 1;
  if (before < 0) return rising.length ? 0 : -1;
  if (after >= rising.length) return before;
  return value - rising[before]! <= rising[after]! - value ? before : after;
}

export function median(values: readonly number[]): number {
  if (!values.length) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
