/** How each statistic is written and which words stand at the ends of its scale. */

import { decimals, percent, plain, scientific } from "../../base/numbers.ts";
import type { ColumnInfo } from "./contract.ts";

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
  return column.unit && column.unit !== "fraction" ? column.unit : inline(column.label);
}

/** `Update ratio` in the middle of a line; `Weight RMS`, `+Inf` and `NaN` keep their capitals. */
export function inline(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}

const GROUPS = [
  ["Updates", /^(update|unchanged)/],
  ["Gradients", /^gradient/],
  ["Weights", /^weight/],
  ["Others", /./],
] as const;

/** Statistics under headings, those with a healthy value first. The status is no statistic. */
export function grouped(columns: readonly ColumnInfo[]): (readonly [string, readonly ColumnInfo[]])[] {
  const all = columns.filter((column) => column.name !== "status");
  const groupOf = (column: ColumnInfo) => GROUPS.find(([, pattern]) => pattern.test(column.name))![0];
  return GROUPS.map(([group]) => {
    const members = all.filter((column) => groupOf(column) === group);
    return [group, members.sort((a, b) => Number(b.healthy !== null) - Number(a.healthy !== null))] as const;
  }).filter(([, members]) => members.length > 0);
}
