/** The range of values that the colours span, and the axis on which they lie. */

import type { ScaleName } from "../../base/colour.ts";
import { niceDistance } from "../../base/ticks.ts";
import type { Cells, ColumnInfo } from "./contract.ts";

/** In plain values of the statistic. */
export interface Limits {
  readonly low: number;
  readonly high: number;
}

/** From value to colour: `low` and `high` are exponents of ten where `log`, plain values otherwise. */
export interface ColourAxis {
  readonly log: boolean;
  readonly low: number;
  readonly high: number;
  /** On the axis; null where the statistic has no healthy value. */
  readonly centre: number | null;
  readonly scale: ScaleName;
}

const HALF = 0.5;
/** On either side of the healthy value: were it more, a run that diverges would look paler than a healthy one. */
const MOST_DECADES = 2;

export function colourAxis(
  column: ColumnInfo,
  quantiles: Cells["quantiles"],
  chosen: Limits | null,
): ColourAxis {
  const log = column.scale === "log";
  const centre = column.healthy === null ? null : log ? Math.log10(column.healthy) : column.healthy;
  const [low, high] = chosen
    ? log
      ? [Math.log10(chosen.low), Math.log10(chosen.high)]
      : [chosen.low, chosen.high]
    : robust(log, centre, quantiles);
  return { log, low, high, centre, scale: centre === null ? "magnitude" : "diverging" };
}

export function limitsOf(axis: ColourAxis): Limits {
  return axis.log ? { low: 10 ** axis.low, high: 10 ** axis.high } : { low: axis.low, high: axis.high };
}

/** Where `value` lies between the ends: 0 at the low one, 1 at the high one, beyond them outside. */
export function fraction(axis: ColourAxis, value: number): number {
  return fractionAt(axis, axis.log ? Math.log10(value) : value); // 0 lies at -Infinity, below every limit
}

/** The same of a place on the axis: an exponent where it is logarithmic. */
export function fractionAt(axis: ColourAxis, at: number): number {
  if (axis.centre === null) return (at - axis.low) / (axis.high - axis.low);
  // A diverging scale keeps its pale middle at the centre, wherever typed limits put the ends.
  const side = at < axis.centre ? axis.centre - axis.low : axis.high - axis.centre;
  return HALF + (HALF * (at - axis.centre)) / side;
}

/** The 1st and 99th percentile, rounded out: to half decades, on a plain axis to round numbers. */
function robust(log: boolean, centre: number | null, quantiles: Cells["quantiles"]): [number, number] {
  const { p1, p99 } = quantiles;
  if (p1 === null || p99 === null) return centre === null ? (log ? [-6, 0] : [0, 1]) : about(centre, 2);
  if (log) {
    const [low, high] = [Math.log10(p1), Math.log10(p99)];
    if (centre !== null)
      return about(centre, halves(Math.max(Math.abs(low - centre), Math.abs(high - centre))));
    const [from, to] = [Math.floor(low / HALF + 1e-6) * HALF, Math.ceil(high / HALF - 1e-6) * HALF];
    return from < to ? [from, to] : [from - HALF, to + HALF];
  }
  if (centre !== null) {
    const reach = Math.max(Math.abs(p1 - centre), Math.abs(p99 - centre)) || 1;
    return about(centre, niceDistance(reach));
  }
  if (p1 === p99) return p1 === 0 ? [0, 1] : [Math.min(0, 2 * p1), Math.max(0, 2 * p1)];
  const nice = niceDistance((p99 - p1) / 16);
  const low = p1 > 0 && p1 < p99 / 2 ? 0 : Math.floor(p1 / nice + 1e-6) * nice;
  return [low, Math.ceil(p99 / nice - 1e-6) * nice];
}

const about = (centre: number, reach: number): [number, number] => [centre - reach, centre + reach];

const halves = (decades: number): number =>
  Math.min(MOST_DECADES, Math.max(HALF, Math.ceil(decades / HALF - 1e-6) * HALF));
