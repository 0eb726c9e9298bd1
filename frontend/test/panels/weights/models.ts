/** Rows of models that the tests look at. */

import type { CellNode, RowInfo } from "../../../src/panels/weights/contract.ts";

export function row(name: string, className = "Linear", shape: readonly number[] = [8]): RowInfo {
  const module = name.slice(0, Math.max(0, name.lastIndexOf(".")));
  return { name, module, class: className, shape, dtype: "float32", trainable: true };
}

/** The 161 parameters of a ResNet-50, in module order. */
export function resnet50(): RowInfo[] {
  const rows: RowInfo[] = [];
  const conv = (module: string, shape: number[]) => rows.push(row(`${module}.weight`, "Conv2d", shape));
  const norm = (module: string, n: number) => {
    rows.push(row(`${module}.weight`, "BatchNorm2d", [n]), row(`${module}.bias`, "BatchNorm2d", [n]));
  };
  conv("conv1", [64, 3, 7, 7]);
  norm("bn1", 64);
  let into = 64;
  for (const [layer, [blocks, wide]] of [
    [3, 64],
    [4, 128],
    [6, 256],
    [3, 512],
  ].entries() as IterableIterator<[number, [number, number]]>)
    for (let block = 0; block < blocks; block++) {
      const path = `layer${layer + 1}.${block}`;
      conv(`${path}.conv1`, [wide, into, 1, 1]);
      norm(`${path}.bn1`, wide);
      conv(`${path}.conv2`, [wide, wide, 3, 3]);
      norm(`${path}.bn2`, wide);
      conv(`${path}.conv3`, [wide * 4, wide, 1, 1]);
      norm(`${path}.bn3`, wide * 4);
      if (block === 0) {
        conv(`${path}.downsample.0`, [wide * 4, into, 1, 1]);
        norm(`${path}.downsample.1`, wide * 4);
      }
      into = wide * 4;
    }
  rows.push(row("fc.weight", "Linear", [1000, 2048]), row("fc.bias", "Linear", [1000]));
  return rows;
}

export function gpt(blocks: number, prefix = "transformer."): RowInfo[] {
  const names = [`${prefix}wte.weight`, `${prefix}wpe.weight`];
  for (let k = 0; k < blocks; k++)
    for (const part of ["ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"])
      names.push(`${prefix}h.${k}.${part}.weight`, `${prefix}h.${k}.${part}.bias`);
  names.push(`${prefix}ln_f.weight`, `${prefix}ln_f.bias`);
  return names.map((name) => row(name));
}

/** The nodes that the server answers: leaves, and modules in `folds` as one. */
export function nodesOf(rows: readonly RowInfo[], folds: readonly string[] = [], toFit = false): CellNode[] {
  const nodes: CellNode[] = [];
  const seen = new Map<string, number>();
  for (const { name } of rows) {
    const fold = folds.find((path) => name.startsWith(`${path}.`));
    if (fold === undefined) nodes.push({ path: name, leaf: true, leaves: 1, folded_to_fit: false });
    else if (!seen.has(fold)) {
      seen.set(fold, nodes.length);
      const leaves = rows.filter((each) => each.name.startsWith(`${fold}.`)).length;
      nodes.push({ path: fold, leaf: false, leaves, folded_to_fit: toFit });
    }
  }
  return nodes;
}
