/** Answers as the server packs them, from plain arrays. */

import type { CellNode, Cells, Stratum } from "../src/panels/weights/contract.ts";

/** The bytes of `docs/http.md`: length of the header, the header, aligned little-endian arrays. */
export function packed(
  header: Record<string, unknown>,
  arrays: Record<string, { dtype: string; shape: number[]; values: Uint8Array }>,
): ArrayBuffer {
  let size = 0;
  const listed = Object.entries(arrays).map(([name, { dtype, shape, values }]) => {
    const offset = size;
    size += values.byteLength + ((8 - (values.byteLength % 8)) % 8);
    return { name, dtype, shape, offset };
  });
  let text = JSON.stringify({ ...header, arrays: listed });
  text += " ".repeat((8 - ((4 + new TextEncoder().encode(text).length) % 8)) % 8);
  const head = new TextEncoder().encode(text);
  const bytes = new Uint8Array(4 + head.length + size);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  Object.values(arrays).forEach(({ values }, k) => {
    bytes.set(values, 4 + head.length + listed[k]!.offset);
  });
  return bytes.buffer;
}

export interface CellInput {
  readonly mean?: number;
  readonly min?: number;
  readonly max?: number;
  readonly count?: number;
  readonly zeros?: number;
  readonly nan?: number;
  readonly pinf?: number;
  readonly ninf?: number;
  readonly missing?: number;
  readonly status?: number;
}

/** One sample of `value` on a log scale, or one of the marks. */
export function sample(value: number): CellInput {
  if (Number.isNaN(value)) return { nan: 1, count: 1 };
  if (value === Infinity) return { pinf: 1, count: 1 };
  if (value === -Infinity) return { ninf: 1, count: 1 };
  if (value === 0) return { min: 0, max: 0, zeros: 1, count: 1 };
  const stored = Math.fround(value);
  return { mean: Math.fround(Math.log10(stored)), min: stored, max: stored, count: 1 };
}

export const leaf = (path: string): CellNode => ({ path, leaf: true, leaves: 1, folded_to_fit: false });

/** An answer whose rows are `rows[r]` = cells; strata default to one value a node. */
export function cellsOf(
  nodes: readonly CellNode[],
  rows: readonly (readonly CellInput[])[],
  more: Partial<Cells> & { strata?: readonly { node: number; stratum: Stratum }[] } = {},
): Cells {
  const width = rows[0]?.length ?? 0;
  const flat = rows.flat();
  const floats = (name: "mean" | "min" | "max") =>
    Float32Array.from(flat, (cell) => cell[name] ?? Number.NaN);
  const counts = (name: keyof CellInput) => Uint32Array.from(flat, (cell) => cell[name] ?? 0);
  return {
    run: "a",
    scope: "model",
    column: "update_ratio",
    scale: "log",
    generation: 1,
    from: 0,
    to: width,
    last: width - 1,
    nodes,
    rows: more.strata ?? nodes.map((_, node) => ({ node, stratum: "value" as const })),
    distribution: { low: -12, high: 6, counts: [], zeros: 0, nan: 0, pinf: 0, ninf: 0, missing: 0 },
    quantiles: { p1: 1e-5, p50: 1e-3, p99: 1e-1 },
    samples: width,
    edges: Float64Array.from({ length: width + 1 }, (_, k) => k),
    mean: floats("mean"),
    min: floats("min"),
    max: floats("max"),
    count: counts("count"),
    zeros: counts("zeros"),
    nan: counts("nan"),
    pinf: counts("pinf"),
    ninf: counts("ninf"),
    missing: counts("missing"),
    status: Uint8Array.from(flat, (cell) => cell.status ?? 1),
    ...more,
  };
}
