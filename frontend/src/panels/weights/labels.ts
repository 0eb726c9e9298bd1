/** Where the names stand: a column a level, each name at the deepest level where it has room. */

import type { CellNode, RowInfo } from "./contract.ts";
import type { Layout, Unit } from "./layout.ts";
import { NAME_PX } from "./layout.ts";
import { type Branch, relative, type Tree } from "./tree.ts";

export interface Label {
  /** Of the module or tensor; unique. */
  readonly path: string;
  readonly text: string;
  /** Class of the module, where it has room beside the name. */
  readonly detail: string;
  /** Shape of a tensor or number of tensors, at the right edge. */
  readonly right: string;
  readonly x: number;
  readonly y: number;
  /** Room for the triangle of modules, kept by what stands among them. */
  readonly indented: boolean;
  /** What it may cover: up to the next column where another name can stand there. */
  readonly w: number;
  /** Undefined where it cannot be folded. */
  readonly folded: boolean | undefined;
  /** Level in the tree of names, from 1. */
  readonly level: number;
  /** Bands [first, end) that it names. */
  readonly first: number;
  readonly end: number;
}

/** A line beside everything that belongs to a branch. */
export interface Bracket {
  readonly x: number;
  readonly y: number;
  readonly h: number;
}

export interface Names {
  readonly labels: readonly Label[];
  readonly brackets: readonly Bracket[];
}

export interface NameSpace {
  /** Left edge of each level; the last one is of tensors. */
  readonly columns: readonly number[];
  /** Right edge of everything. */
  readonly right: number;
  readonly slim: boolean;
}

const LEFT = 10;
/** Triangle and the gap behind it. */
export const GLYPH_PX = 12;
const GAP_PX = 7;

/** Columns as wide as their longest name, within `width_px` less what tensors need. */
export function nameColumns(
  tree: Tree,
  width_px: number,
  measure: (text: string) => number,
  slim: boolean,
): NameSpace {
  const longest: number[] = [];
  const visit = (branch: Branch) => {
    const wide = branch.tensor ? 0 : measure(branch.name); // nothing stands to the right of a lone tensor
    longest[branch.depth] = Math.max(longest[branch.depth] ?? 0, wide);
    branch.children.forEach(visit);
  };
  tree.tops.forEach(visit);
  const most = (width_px * (slim ? 0.4 : 0.36)) / Math.max(1, longest.length) + (slim ? 0 : 30);
  const columns = [LEFT];
  for (const wide of longest)
    columns.push(columns.at(-1)! + GLYPH_PX + Math.min(most, Math.ceil(wide)) + GAP_PX);
  return { columns, right: width_px - (slim ? 4 : 8), slim };
}

/**
 * Labels of all units, none closer than 14 px to the one above it in its column. A branch is named where it begins,
 * a folded or lone one in its middle.
 */
export function placeNames(
  layout: Layout,
  nodes: readonly CellNode[],
  rows: ReadonlyMap<string, RowInfo>,
  space: NameSpace,
): Names {
  const wanted: Wanted[] = [];
  const brackets: Bracket[] = [];
  const opened = new Map<Branch, { y: number; bottom: number; first: number; end: number }>();
  for (const unit of layout.units)
    for (let above = unit.branch?.parent; above; above = above.parent) {
      const extent = opened.get(above);
      if (extent) Object.assign(extent, { bottom: unit.y + unit.h, end: unit.end });
      else opened.set(above, { y: unit.y, bottom: unit.y + unit.h, first: unit.first, end: unit.end });
    }
  for (const [branch, { y, bottom, first, end }] of opened) {
    const x = (space.columns[branch.depth + 1] ?? 0) - GAP_PX + 2;
    if (bottom - y < NAME_PX) continue;
    brackets.push({ x, y, h: bottom - y });
    wanted.push({ ...named(branch), y, folded: branch.foldable ? false : undefined, first, end });
  }
  for (const unit of layout.units) {
    const { branch } = unit;
    const alone = !branch || branch.depth === 0;
    const splits = unit.named && !branch?.tensor;
    if (branch && unit.h >= NAME_PX - 1) {
      const quiet = splits || space.slim;
      wanted.push({
        ...named(branch),
        detail: quiet || alone ? "" : branch.className,
        right: quiet ? "" : extent(branch, alone, rows),
        y: unit.y + (splits ? lead(unit) : alone || unit.folded ? Math.round(unit.h / 2) - NAME_PX / 2 : 0),
        folded: branch.foldable ? unit.folded : undefined,
        first: unit.first,
        end: unit.end,
      });
    }
    if (!splits) continue;
    for (let k = unit.first; k < unit.end; k++) {
      const node = nodes[layout.bands[k]!.node]!;
      const h = unit.h / (unit.end - unit.first);
      const shape = rows.get(node.path)?.shape;
      wanted.push({
        path: node.path,
        text: relative(node.path, branch?.path ?? ""),
        detail: "",
        right: space.slim ? "" : shape ? shapeText(shape) : String(node.leaves),
        column: space.columns.length - 1,
        y: unit.y + Math.round(h * (k - unit.first) + (h - 1 - NAME_PX) / 2),
        folded: undefined,
        first: k,
        end: k + 1,
      });
    }
  }
  return { labels: withRoom(wanted, space), brackets };
}

type Wanted = Omit<Label, "x" | "w" | "indented" | "level"> & { readonly column: number };

/** From top to bottom, those that do not touch the one above them in their column. */
function withRoom(wanted: Wanted[], { columns, right }: NameSpace): Label[] {
  const free: number[] = [];
  const labels: Label[] = [];
  for (const { column, ...label } of wanted.sort((a, b) => a.y - b.y || a.column - b.column)) {
    if (label.y < (free[column] ?? Number.NEGATIVE_INFINITY)) continue;
    free[column] = label.y + NAME_PX;
    const x = columns[column]!;
    const edge = label.right || label.detail ? right : (columns[column + 1] ?? right + 4) - 4;
    labels.push({ ...label, x, w: edge - x, indented: column < columns.length - 1, level: column + 1 });
  }
  return labels.sort((a, b) => a.first - b.first || a.level - b.level);
}

/** `256×1024×1×1`; a scalar is `1`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length ? shape.join("×") : "1";
}

const named = (branch: Branch) => ({
  path: branch.path,
  text: branch.name,
  detail: "",
  right: "",
  column: branch.depth,
});

/** Offset of the name of a module whose tensors are named, so that it stands on the line of the first. */
function lead(unit: Unit): number {
  return Math.round((unit.h / (unit.end - unit.first) - 1 - NAME_PX) / 2);
}

function extent(branch: Branch, inWords: boolean, rows: ReadonlyMap<string, RowInfo>): string {
  const lone = rows.get(branch.path);
  if (lone) return shapeText(lone.shape);
  const n = branch.to - branch.from;
  return inWords ? `${n} tensor${n === 1 ? "" : "s"}` : String(n);
}
