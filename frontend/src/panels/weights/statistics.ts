/** How each statistic is written and which words stand at the ends of its scale. */

import { decimals, percent, plain, scientific } from "../../base/numbers.ts";
import { type ColumnInfo, STATUS } from "./contract.ts";

export function formatValue(column: Pick<ColumnInfo, "name" | "unit" | "scale">, value: number): string {
  if (column.unit === "fraction") return percent(value);
  if (column.name.startsWith("weight_")) return plain(value);
  return column.scale === "log" ? scientific(value) : decimals(value);
}

/** Words at the low and the high end. */
export function endWords(column: ColumnInfo): readonly [string, string] {
  if (column.name === "update_ratio") return ["hardly moves", "moves a lot"];
  if (column.unit === "fraction") return ["few", "many"];
  return column.scale === "log" ? ["small", "large"] : ["low", "high"];
}

/** What the statistic is, under its distribution: `update norm / weight norm`. */
export function definition(column: ColumnInfo): string {
  return column.unit && column.unit !== "fraction" ? column.unit : column.label.toLowerCase();
}

/** `Update ratio` in the middle of a line; `Weight RMS`, `+Inf` and `NaN` keep their capitals. */
export function inline(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}

/** Why a value is 0, missing or an estimate; the first that explains it. */
export function statusReason(status: number, value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) {
    if (status & STATUS.UNDEFINED_RATIO) return "the weight norm is 0";
    if (status & STATUS.FROZEN) return "frozen";
    if (status & STATUS.UNUSED) return "unused in the backward pass";
    if (status & STATUS.NO_GRADIENT) return "no gradient";
    if (status & STATUS.UNSEEN) return "not measurable on this step";
    return "";
  }
  if (value === 0) {
    if (status & STATUS.FROZEN) return "frozen";
    if (status & STATUS.UPDATE_SKIPPED) return "update skipped";
    if (status & STATUS.UNUSED) return "unused in the backward pass";
    if (status & STATUS.NO_GRADIENT) return "no gradient";
  }
  return status & STATUS.SUB_SAMPLED ? "estimated from a part of the entries" : "";
}
