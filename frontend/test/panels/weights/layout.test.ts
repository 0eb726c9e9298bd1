import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellNode, RowInfo } from "../../../src/panels/weights/contract.ts";
import { bandAt, type Layout, layoutRows, mostNodes } from "../../../src/panels/weights/layout.ts";
import { buildTree } from "../../../src/panels/weights/tree.ts";
import { pick, type Random, seeded, whole } from "../../random.ts";
import { gpt, nodesOf, resnet50 } from "./models.ts";

const all = (nodes: readonly CellNode[]) => [...nodes.keys()];

function laidOut(
  rows: readonly RowInfo[],
  folds: readonly string[],
  height: number,
  row: number | null = null,
): Layout {
  const nodes = nodesOf(rows, folds);
  return layoutRows(nodes, all(nodes), buildTree(rows, {}), height, row);
}

function randomModel(random: Random): RowInfo[] {
  return pick(random, [resnet50, () => gpt(whole(random, 1, 30))])();
}

test("the picture of the design: 161 tensors, layer1 and two blocks folded, 642 px", () => {
  const layout = laidOut(resnet50(), ["layer1", "layer4.1", "layer4.2"], 642);
  assert.equal(layout.bands.length, 116);
  assert.equal(layout.row, 4);
  assert.ok(layout.height <= 642);
});

test("bands follow each other without overlap, one a node, in whole px of at least 1", () => {
  const random = seeded(7);
  for (let round = 0; round < 100; round++) {
    const rows = randomModel(random);
    const tree = buildTree(rows, {});
    const tops = tree.tops.filter((top) => top.foldable && random() < 0.4).map((top) => top.path);
    const nodes = nodesOf(rows, tops);
    const shown = all(nodes).filter(() => random() < 0.9);
    const chosen = random() < 0.3 ? whole(random, 1, 40) : null;
    const layout = layoutRows(nodes, shown, tree, whole(random, 40, 1200), chosen);
    assert.deepEqual(
      layout.bands.map((band) => band.node),
      shown,
    );
    let below = 0;
    for (const { y, h } of layout.bands) {
      assert.ok(y >= below && Number.isInteger(y) && Number.isInteger(h) && h >= 1);
      below = y + h;
    }
    assert.ok(below <= layout.height);
    const covered = layout.units.flatMap((unit) => layout.bands.slice(unit.first, unit.end));
    assert.deepEqual(covered, layout.bands, "every band is in one unit");
  }
});

test("it fits whenever rows of 1 px do, with the largest equal height", () => {
  const random = seeded(8);
  for (let round = 0; round < 100; round++) {
    const rows = randomModel(random);
    const nodes = nodesOf(rows);
    const tree = buildTree(rows, {});
    const height = whole(random, 100, 1500);
    const layout = layoutRows(nodes, all(nodes), tree, height, null);
    if (rows.length <= mostNodes(tree, new Set(), height)) assert.ok(layout.height <= height, `${height}`);
    else assert.equal(layout.row, 1);
    if (layout.row < 16)
      assert.ok(layoutRows(nodes, all(nodes), tree, height, layout.row + 1).height > height);
  }
});

test("gaps are 6 between top modules, 2 between blocks, 1 between named rows", () => {
  const layout = laidOut(resnet50(), [], 4000, 14);
  const gap = (k: number) => layout.units[k + 1]!.y - layout.units[k]!.y - layout.units[k]!.h;
  const names = layout.units.map((unit) => unit.branch!.path);
  assert.equal(gap(names.indexOf("bn1")), 6);
  assert.equal(gap(names.indexOf("layer1.0")), 2);
  assert.equal(gap(names.indexOf("layer1.2")), 6);
  const block = layout.units[names.indexOf("layer1.0")]!;
  assert.ok(block.named);
  const [first, second] = layout.bands.slice(block.first);
  assert.equal(second!.y - first!.y - first!.h, 1);
});

test("a folded group is 15 px, a module of few rows at least 14", () => {
  const layout = laidOut(resnet50(), ["layer1"], 642);
  const at = (path: string) => layout.units.find((unit) => unit.branch?.path === path)!;
  assert.equal(at("layer1").h, 15);
  assert.ok(at("layer1").folded);
  assert.equal(at("conv1").h, 14);
  assert.equal(at("bn1").h, 14);
});

test("what was folded to fit shares the height of the rows", () => {
  const rows = gpt(60);
  const tree = buildTree(rows, {});
  const blocks = Array.from({ length: 60 }, (_, k) => `transformer.h.${k}`);
  const nodes = nodesOf(rows, blocks, true);
  const layout = layoutRows(nodes, all(nodes), tree, 300, null);
  assert.ok(layout.height <= 300);
  assert.ok(layout.units.filter((unit) => unit.folded).every((unit) => unit.h === layout.row));
});

test("more rows than pixels scroll at 1 px", () => {
  const layout = laidOut(gpt(100), [], 400);
  assert.equal(layout.row, 1);
  assert.ok(layout.height > 400);
});

test("a height chosen by hand holds, and names begin at 14 px", () => {
  for (const [row, named] of [
    [13, false],
    [14, true],
    [30, true],
  ] as const) {
    const layout = laidOut(resnet50(), [], 500, row);
    assert.equal(layout.row, row);
    assert.ok(layout.units.every((unit) => unit.named === named));
  }
});

test("asking for as many nodes as fit never makes the server fold what fits", () => {
  const rows = resnet50();
  const tree = buildTree(rows, {});
  assert.ok(mostNodes(tree, new Set(), 600) >= rows.length);
  assert.ok(mostNodes(tree, new Set(), 100) < rows.length);
  assert.ok(mostNodes(tree, new Set(["layer1"]), 600) > mostNodes(tree, new Set(), 600) - 15);
  assert.equal(mostNodes(tree, new Set(), 1), tree.tops.length);
});

test("a point finds the band it is in, or the one above the gap it is in", () => {
  const layout = laidOut(resnet50(), ["layer1"], 642);
  for (let y = 0; y < layout.height; y++) {
    let slow = -1;
    layout.bands.forEach((band, k) => {
      if (band.y <= y) slow = k;
    });
    assert.equal(bandAt(layout, y), slow);
  }
  assert.equal(bandAt(layout, -1), -1);
  assert.equal(bandAt(layout, layout.height), -1);
  assert.equal(bandAt(laidOut([], [], 100), 0), -1);
});
