/** Says in words and numbers what one cell of the picture holds. */

import { css } from "../../base/colour.ts";
import { plural, whole } from "../../base/numbers.ts";
import type { ReadOutContent, ReadOutLine } from "../../widgets/read-out.tsx";
import { codeOf } from "./codes.ts";
import {
  type AtAnswer,
  type CellNode,
  type Cells,
  type ColumnInfo,
  parseNumber,
  type RowInfo,
  type SampleAnswer,
  type Stratum,
} from "./contract.ts";
import { shapeText } from "./labels.ts";
import type { ColourAxis } from "./limits.ts";
import type { Palette } from "./palette.ts";
import { formatValue, inline } from "./statistics.ts";
import { statusReason } from "./status.ts";
import { relative } from "./tree.ts";

export interface ReadInput {
  readonly cells: Cells;
  readonly cell: number;
  readonly node: number;
  readonly column: ColumnInfo;
  readonly columns: readonly ColumnInfo[];
  readonly rows: readonly RowInfo[];
  readonly axis: ColourAxis;
  readonly ink: Palette;
  readonly inside: { readonly first: number; readonly last: number; readonly count: number } | null;
  readonly step: number;
  /** Null until it is here. */
  readonly sample: SampleAnswer | null;
  readonly at: AtAnswer | null;
}

/** Beside the chosen statistic, what tells most about a tensor. */
const BESIDE = ["weight_norm", "gradient_norm", "update_ratio"];
const PENDING = "…";

export function readCell(input: ReadInput): ReadOutContent {
  const node = input.cells.nodes[input.node]!;
  return node.leaf ? readTensor(input, node) : readFolded(input, node);
}

/** The value of a row of cells, as words where it has none. */
export function cellText(cells: Cells, row: number, cell: number, column: ColumnInfo): string {
  const k = row * (cells.edges.length - 1) + cell;
  if (cells.nan[k]! > 0) return "NaN";
  if (cells.pinf[k]! > 0) return cells.ninf[k]! > 0 ? "±Inf" : "+Inf";
  if (cells.ninf[k]! > 0) return "−Inf";
  const value = cellValue(cells, k);
  return value === undefined ? "not recorded" : formatValue(column, value);
}

/** The mean, of logarithms on a log scale; 0 where every sample is 0; undefined where there is none. */
function cellValue(cells: Cells, k: number): number | undefined {
  if (Number.isNaN(cells.min[k]!)) return undefined;
  if (cells.scale === "linear") return cells.mean[k]!;
  return cells.max[k]! > 0 ? 10 ** cells.mean[k]! : 0;
}

function rowOf(cells: Cells, node: number, stratum: Stratum): number {
  return cells.rows.findIndex((row) => row.node === node && row.stratum === stratum);
}

function readTensor(input: ReadInput, node: CellNode): ReadOutContent {
  const { cells, column, sample } = input;
  const info = input.rows.find((row) => row.name === node.path);
  const row = rowOf(cells, input.node, "value");
  const k = row * (cells.edges.length - 1) + input.cell;
  const lines: ReadOutLine[] = [valueLine(input, inline(column.label), row)];
  const samples = input.inside?.count ?? 0;
  const known = cellValue(cells, k);
  if (samples > 1 && known !== undefined)
    lines.push({
      label: "smallest, largest",
      value: `${formatValue(column, cells.min[k]!)}, ${formatValue(column, cells.max[k]!)}`,
    });
  if (cells.nan[k]! > 0 && samples > 1)
    lines.push({ label: "NaN in", value: `${cells.nan[k]} of ${samples} samples` });
  const reason = statusReason(cells.status[k]!, cells.nan[k]! > 0 ? Number.NaN : known);
  if (reason) lines.push({ label: "why", value: reason });
  for (const name of BESIDE) {
    const other = input.columns.find((each) => each.name === name);
    if (!other || name === column.name || (lines.length > 4 && name === "update_ratio")) continue;
    const value = parseNumber(sample?.values[name]);
    lines.push({
      label: inline(other.label),
      value: sample ? (value === undefined ? "not recorded" : formatValue(other, value)) : PENDING,
    });
  }
  lines.push(stepsLine(input));
  const sub = info ? [info.class, shapeText(info.shape), info.dtype].filter(Boolean).join(", ") : "";
  return { title: node.path, sub, lines };
}

function readFolded(input: ReadInput, node: CellNode): ReadOutContent {
  const { cells, column } = input;
  const members = membersOf(input, node);
  const finite = members.filter(({ value }) => Number.isFinite(value)).sort((a, b) => b.value - a.value);
  const broken = members.filter(({ value }) => !Number.isFinite(value));
  const lines: ReadOutLine[] = [];
  for (const [stratum, member] of [
    ["largest", finite[0]],
    ["median", undefined],
    ["smallest", finite.at(-1)],
  ] as const) {
    const label = member ? `${stratum}: ${member.name}` : stratum;
    // The largest row carries the marks of all; the read-out tells them in a line of their own.
    lines.push(valueLine(input, label, rowOf(cells, input.node, stratum), stratum === "largest"));
  }
  const k = rowOf(cells, input.node, "fold") * (cells.edges.length - 1) + input.cell;
  const folded = cellValue(cells, k);
  if (folded !== undefined && !Number.isNaN(folded))
    lines.push({ label: "as one", value: formatValue(column, folded) });
  if (broken.length)
    lines.push({
      label: broken.every(({ value }) => Number.isNaN(value)) ? "NaN" : "NaN, Inf",
      value: broken.length > 1 ? `${broken[0]!.name} and ${broken.length - 1} more` : broken[0]!.name,
      tone: "nan",
    });
  lines.push(stepsLine(input));
  return { title: node.path, sub: `${plural(node.leaves, "tensor")} folded, ${inline(column.label)}`, lines };
}

function membersOf(input: ReadInput, node: CellNode): { name: string; value: number }[] {
  if (!input.at) return [];
  return input.rows.flatMap((row, index) => {
    const value = parseNumber(input.at!.values[index]);
    const name = relative(row.name, node.path);
    return name !== row.name && value !== undefined ? [{ name, value }] : [];
  });
}

function valueLine(input: ReadInput, label: string, row: number, ignoreMarks = false): ReadOutLine {
  const { cells, axis, ink } = input;
  const k = row * (cells.edges.length - 1) + input.cell;
  const value = cellValue(cells, k);
  const text =
    ignoreMarks && value !== undefined
      ? formatValue(input.column, value)
      : cellText(cells, row, input.cell, input.column);
  if (text === "NaN") return { label, value: text, tone: "nan" };
  const code = value === undefined ? undefined : codeOf(axis, value);
  const chip = code === undefined ? undefined : ink.scale[code];
  return { label, value: text, ...(chip !== undefined && { chip: css(chip) }) };
}

function stepsLine({ inside, step }: ReadInput): ReadOutLine {
  if (!inside) return { label: "sample before", value: whole(step) };
  if (inside.count === 1) return { label: "step", value: whole(inside.last) };
  return {
    label: `${plural(inside.count, "step")} here`,
    value: `${whole(inside.first)} to ${whole(inside.last)}`,
  };
}
