/** Turns the rows of a model into the tree of names that the picture shows: layer, block, tensor. */

import type { RowInfo } from "./contract.ts";

/** A module with a name of its own in the picture, or a tensor that the model holds directly. */
export interface Branch {
  /** Of the module or tensor, dotted. */
  readonly path: string;
  /** Relative to the branch above. */
  readonly name: string;
  readonly className: string;
  /** 0 for a layer, 1 for a block, 2 for a block of blocks. */
  readonly depth: number;
  /** Rows [from, to) of the model. */
  readonly from: number;
  readonly to: number;
  readonly parent: Branch | null;
  readonly children: readonly Branch[];
  readonly foldable: boolean;
  /** Whether it is a tensor itself, not a module that holds some. */
  readonly tensor: boolean;
}

export interface Tree {
  readonly tops: readonly Branch[];
  /** The deepest branch that holds `path`, a tensor or a module; undefined where it is above all branches. */
  owner(path: string): Branch | undefined;
}

interface Module {
  readonly path: string;
  readonly kids: Map<string, Module>;
  /** Own tensors and modules, in order; a number is a row. */
  readonly order: (Module | number)[];
  rows: number;
  first: number;
}

const MAX_DEPTH = 2;
const SEPARATOR = /[./]/;

export function buildTree(rows: readonly RowInfo[], classes: Readonly<Record<string, string>>): Tree {
  let root = modulesOf(rows);
  for (;;) {
    const [only] = root.order; // a wrapper around the whole model adds nothing but its name
    if (root.order.length !== 1 || typeof only !== "object" || !only.kids.size) break;
    root = only;
  }
  const byPath = new Map<string, Branch>();

  function grow(module: Module, parent: Branch | null, above: string): Branch {
    let inner = module; // a chain of single modules is one name
    for (;;) {
      const [only] = inner.order;
      if (inner.order.length !== 1 || typeof only !== "object" || !only.kids.size) break;
      inner = only;
    }
    const children: Branch[] = [];
    const depth = parent ? parent.depth + 1 : 0;
    const branch: Branch = {
      path: inner.path,
      name: relative(inner.path, above),
      className: classes[inner.path] ?? "",
      depth,
      from: inner.first,
      to: inner.first + inner.rows,
      parent,
      children,
      foldable: inner.kids.size > 0,
      tensor: false,
    };
    byPath.set(branch.path, branch);
    if (opens(inner, depth))
      for (const part of inner.order)
        children.push(typeof part === "number" ? lone(part, branch) : grow(part, branch, inner.path));
    return branch;
  }

  function lone(row: number, parent: Branch | null): Branch {
    const path = rows[row]!.name;
    const branch: Branch = {
      path,
      name: relative(path, parent ? parent.path : root.path),
      className: "",
      depth: parent ? parent.depth + 1 : 0,
      from: row,
      to: row + 1,
      parent,
      children: [],
      foldable: false,
      tensor: true,
    };
    byPath.set(path, branch);
    return branch;
  }

  const tops = root.order.map((part) =>
    typeof part === "number" ? lone(part, null) : grow(part, null, root.path),
  );
  return {
    tops,
    owner(path) {
      for (let end = path.length; end > 0; end = lastSeparator(path, end - 1)) {
        const found = byPath.get(path.slice(0, end));
        if (found) return found;
      }
      return undefined;
    },
  };
}

/** `layer1.0.conv1` under `layer1` is `0.conv1`. */
export function relative(path: string, above: string): string {
  const isUnder = above && path.startsWith(above) && SEPARATOR.test(path.charAt(above.length));
  return isUnder ? path.slice(above.length + 1) : path;
}

function lastSeparator(path: string, before: number): number {
  return Math.max(path.lastIndexOf(".", before), path.lastIndexOf("/", before));
}

/**
 * Whether the modules inside get names of their own: where most tensors lie at least two modules down, at the
 * top and in lists of blocks. So a ResNet shows layer and block, a GPT its blocks, and neither every convolution.
 */
function opens(module: Module, depth: number): boolean {
  if (depth >= MAX_DEPTH || module.kids.size < 2) return false;
  const isList = [...module.kids.keys()].every((name) => /^\d+$/.test(name));
  if (depth > 0 && !isList) return false;
  let deep = 0;
  for (const kid of module.kids.values()) if (kid.kids.size) deep += kid.rows;
  return deep * 2 > module.rows;
}

function modulesOf(rows: readonly RowInfo[]): Module {
  const root = empty("", 0);
  rows.forEach((row, index) => {
    let here = root;
    here.rows++;
    let end = -1;
    for (const part of row.module ? row.module.split(SEPARATOR) : []) {
      end += 1 + part.length;
      let next = here.kids.get(part);
      if (!next) {
        next = empty(row.module.slice(0, end), index);
        here.kids.set(part, next);
        here.order.push(next);
      }
      next.rows++;
      here = next;
    }
    here.order.push(index);
  });
  return root;
}

function empty(path: string, first: number): Module {
  return { path, kids: new Map(), order: [], rows: 0, first };
}
