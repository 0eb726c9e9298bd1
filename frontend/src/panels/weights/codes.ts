/** Turns cells into codes: which colour of the scale, or which mark. Done once an answer, not once a frame. */

import { SCALE_SIZE } from "../../base/colour.ts";
import type { Cells } from "./contract.ts";
import { type ColourAxis, fractionAt } from "./limits.ts";

/** Codes from SCALE_SIZE on are marks; a higher number wins where several share a pixel, values in between. */
export const MARK = {
  /** After the end of a run, or before its beginning. */
  NOTHING: SCALE_SIZE,
  UNREAD: SCALE_SIZE + 1,
  MISSING: SCALE_SIZE + 2,
  INF: SCALE_SIZE + 3,
  NAN: SCALE_SIZE + 4,
} as const;

/** The part of the scale that a value must lie away from its neighbours' mean to be shown in their stead. */
const LINEAR_SPIKE = 1 / 8;
const HALF_DECADE = 10 ** 0.5;

/** Half a decade in codes; on a plain axis an eighth of the scale. */
export function spikeReach(axis: ColourAxis): number {
  return (axis.log ? 0.5 / (axis.high - axis.low) : LINEAR_SPIKE) * SCALE_SIZE;
}

export function codeOf(axis: ColourAxis, value: number): number {
  if (Number.isNaN(value)) return MARK.NAN;
  if (value === Infinity || value === -Infinity) return MARK.INF;
  return colourIndex(axis, axis.log ? Math.log10(value) : value);
}

/**
 * [rows * cells] codes. A cell shows the mean of its samples, of their logarithms on a log axis; the smallest or
 * largest instead where that lies over half a decade away. NaN and Inf come before any value. Rows of modules as one
 * stay 0: no picture shows them.
 */
export function encodeCells(cells: Cells, axis: ColourAxis): Uint16Array {
  const { mean, min, max, nan, pinf, ninf, missing } = cells;
  const codes = new Uint16Array(mean.length);
  const width = cells.edges.length - 1;
  const code = axis.log ? logCode : linearCode;
  cells.rows.forEach(({ stratum }, row) => {
    if (stratum === "fold") return;
    for (let i = row * width; i < (row + 1) * width; i++) {
      if (nan[i]! > 0) codes[i] = MARK.NAN;
      else if (pinf[i]! > 0 || ninf[i]! > 0) codes[i] = MARK.INF;
      else if (Number.isNaN(min[i]!)) codes[i] = missing[i]! > 0 ? MARK.MISSING : MARK.NOTHING;
      else codes[i] = code(axis, mean[i]!, min[i]!, max[i]!);
    }
  });
  return codes;
}

function logCode(axis: ColourAxis, mean: number, min: number, max: number): number {
  if (!(max > 0)) return 0; // nothing but zeros: frozen, skipped
  if (max < min * HALF_DECADE) return colourIndex(axis, mean); // no extreme can lie that far, and logarithms are slow
  if (Math.log10(max) - mean > 0.5) return colourIndex(axis, Math.log10(max));
  if (mean - Math.log10(min) > 0.5) return colourIndex(axis, Math.log10(min));
  return colourIndex(axis, mean);
}

function linearCode(axis: ColourAxis, mean: number, min: number, max: number): number {
  const away = LINEAR_SPIKE * (axis.high - axis.low);
  return colourIndex(axis, max - mean > away ? max : mean - min > away ? min : mean);
}

function colourIndex(axis: ColourAxis, at: number): number {
  const index = Math.round(fractionAt(axis, at) * (SCALE_SIZE - 1));
  return Math.min(SCALE_SIZE - 1, Math.max(0, index));
}
