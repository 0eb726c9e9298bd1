/** Shares the height of the picture among its rows: names where 14 px fit, and every row whole pixels. */

import type { CellNode } from "./contract.ts";
import type { Branch, Tree } from "./tree.ts";

/** Rows that belong to one branch, or one folded branch. All measures in CSS px. */
export interface Unit {
  readonly branch: Branch | undefined;
  readonly folded: boolean;
  /** Bands [first, end). */
  readonly first: number;
  readonly end: number;
  readonly y: number;
  readonly h: number;
  /** Whether each of its rows is high enough for a name. */
  readonly named: boolean;
}

export interface Band {
  readonly node: number;
  readonly y: number;
  readonly h: number;
}

export interface Layout {
  readonly units: readonly Unit[];
  /** One a node that is shown, from top to bottom, never overlapping. */
  readonly bands: readonly Band[];
  readonly height: number;
  /** Height that the rows share. */
  readonly row: number;
}

export const NAME_PX = 14;
export const MOST_ROW_PX = 16;
/** What the wheel over the names can reach. */
export const HIGHEST_ROW_PX = 40;
const FOLD_PX = 15;

interface Gaps {
  readonly top: number;
  readonly block: number;
  /** The least height of a module. */
  readonly module: number;
}
const ROOMY: Gaps = { top: 6, block: 2, module: NAME_PX };
const TIGHT: Gaps = { top: 3, block: 1, module: 0 };

interface Group {
  readonly branch: Branch | undefined;
  readonly folded: boolean;
  readonly toFit: boolean;
  readonly nodes: number[];
}

/**
 * Lays out `nodes` (the indices shown of them) within `height`. With `row` null the rows get the largest equal
 * whole height up to 16 that fits, else 1; then, and with a `row` chosen by hand, the layout may be higher
 * than `height` and scrolls.
 */
export function layoutRows(
  nodes: readonly CellNode[],
  shown: readonly number[],
  tree: Tree,
  height: number,
  row: number | null,
): Layout {
  const groups = group(nodes, shown, tree);
  if (row !== null) return place(groups, row, ROOMY);
  for (const gaps of [ROOMY, TIGHT])
    for (let h = MOST_ROW_PX; h >= 1; h--)
      if (total(groups, h, gaps) <= height) return place(groups, h, gaps);
  return place(groups, 1, TIGHT);
}

/** How many nodes to ask for, so that they fit within `height` at 1 px beside the gaps between branches. */
export function mostNodes(tree: Tree, folds: ReadonlySet<string>, height: number): number {
  const taken = (branches: readonly Branch[], gap: number): number =>
    branches.reduce(
      (sum, branch) => sum + (folds.has(branch.path) ? FOLD_PX - 1 : taken(branch.children, TIGHT.block)),
      gap * Math.max(0, branches.length - 1),
    );
  return Math.max(1, Math.floor(height - taken(tree.tops, TIGHT.top)), tree.tops.length);
}

/** Index of the band at `y`, the gap below it included; -1 above, below and in an empty layout. */
export function bandAt(layout: Layout, y: number): number {
  if (y < 0 || y >= layout.height) return -1;
  let low = 0;
  let high = layout.bands.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.bands[middle]!.y <= y) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function group(nodes: readonly CellNode[], shown: readonly number[], tree: Tree): Group[] {
  const groups: Group[] = [];
  for (const index of shown) {
    const node = nodes[index]!;
    const branch = tree.owner(node.path);
    const folded = !node.leaf && node.path === branch?.path;
    const last = groups.at(-1);
    if (last && last.branch === branch && !folded && !last.folded) last.nodes.push(index);
    else groups.push({ branch, folded, toFit: node.folded_to_fit, nodes: [index] });
  }
  return groups;
}

function gapAbove(groups: readonly Group[], index: number, gaps: Gaps): number {
  if (index === 0) return 0;
  const top = (group: Group) => {
    let branch = group.branch;
    while (branch?.parent) branch = branch.parent;
    return branch;
  };
  return top(groups[index]!) === top(groups[index - 1]!) ? gaps.block : gaps.top;
}

function heightOf(group: Group, row: number, gaps: Gaps): number {
  if (group.folded) return group.toFit ? row : Math.max(FOLD_PX, row);
  return Math.max(group.nodes.length * row, gaps.module);
}

function total(groups: readonly Group[], row: number, gaps: Gaps): number {
  let sum = 0;
  groups.forEach((group, index) => {
    sum += gapAbove(groups, index, gaps) + heightOf(group, row, gaps);
  });
  return sum;
}

function place(groups: readonly Group[], row: number, gaps: Gaps): Layout {
  const units: Unit[] = [];
  const bands: Band[] = [];
  let y = 0;
  groups.forEach((group, index) => {
    y += gapAbove(groups, index, gaps);
    const h = heightOf(group, row, gaps);
    const n = group.nodes.length;
    const named = !group.folded && row >= NAME_PX;
    const line = named && n > 1 ? 1 : 0;
    const first = bands.length;
    group.nodes.forEach((node, k) => {
      const top = Math.round((h * k) / n);
      bands.push({ node, y: y + top, h: Math.round((h * (k + 1)) / n) - top - (k < n - 1 ? line : 0) });
    });
    units.push({ branch: group.branch, folded: group.folded, first, end: bands.length, y, h, named });
    y += h;
  });
  return { units, bands, height: y, row };
}
