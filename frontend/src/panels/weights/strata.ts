/** Arranges the codes of an answer as the picture needs them: which rows of cells picture which node. */

import { SCALE_SIZE } from "../../base/colour.ts";
import { MARK } from "./codes.ts";
import type { Cells } from "./contract.ts";

/** Codes of an answer, and per node the rows that picture it. */
export interface Coded {
  readonly codes: Uint16Array;
  readonly cells: number;
  readonly edges: Float64Array;
  /** [nodes * 4] rows: largest, median, smallest, and what stands for all three; the same row for a leaf. */
  readonly strata: Int32Array;
}

export const STRATA = 4;
/** The last of them. */
export const TELLING = 3;

/**
 * Codes as the picture needs them, made once an answer: NaN or Inf in any tensor of a folded node rises to its top
 * stratum, and each folded node gets a row that stands for all where there is no height for strata.
 */
export function pictureCodes(
  cells: Pick<Cells, "nodes" | "rows" | "edges">,
  codes: Uint16Array,
  reach: number,
): Coded {
  const width = cells.edges.length - 1;
  const slots = { largest: [0], median: [1], smallest: [2], value: [0, 1, 2, TELLING], fold: [] } as const;
  const strata = new Int32Array(cells.nodes.length * STRATA).fill(-1);
  cells.rows.forEach(({ node, stratum }, row) => {
    for (const slot of slots[stratum]) strata[node * STRATA + slot] = row;
  });
  const folded = cells.nodes.filter((node) => !node.leaf).length;
  const all = new Uint16Array(codes.length + folded * width);
  all.set(codes);
  let row = cells.rows.length;
  cells.nodes.forEach((node, index) => {
    if (node.leaf) return;
    const [top, middle, bottom] = strata.subarray(index * STRATA, index * STRATA + TELLING);
    combine(all, top! * width, middle! * width, bottom! * width, row * width, width, reach);
    strata[index * STRATA + TELLING] = row++;
  });
  return { codes: all, cells: width, edges: cells.edges, strata };
}

/**
 * Too low for strata: a mark, else the median, or the end that lies far from it. An average would hide the one bad
 * tensor.
 */
function combine(
  codes: Uint16Array,
  top: number,
  middle: number,
  bottom: number,
  out: number,
  width: number,
  reach: number,
): void {
  for (let k = 0; k < width; k++) {
    const m = codes[middle + k]!;
    const b = codes[bottom + k]!;
    let t = codes[top + k]!;
    if (m >= MARK.INF && m > t) t = m;
    if (b >= MARK.INF && b > t) t = b;
    codes[top + k] = t;
    if (t < SCALE_SIZE) {
      const above = t - m;
      const below = b < SCALE_SIZE ? m - b : 0;
      if (!(above > reach && above >= below)) t = below > reach ? b : m;
    }
    codes[out + k] = t;
  }
}
