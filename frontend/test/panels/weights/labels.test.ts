import assert from "node:assert/strict";
import { test } from "node:test";
import { nameColumns, placeNames, shapeText } from "../../../src/panels/weights/labels.ts";
import { layoutRows, NAME_PX } from "../../../src/panels/weights/layout.ts";
import { buildTree } from "../../../src/panels/weights/tree.ts";
import { pick, seeded, whole } from "../../random.ts";
import { gpt, nodesOf, resnet50 } from "./models.ts";

const measure = (text: string) => text.length * 6;

function placed(
  rows = resnet50(),
  folds: readonly string[] = [],
  height = 642,
  row: number | null = null,
  slim = false,
) {
  const tree = buildTree(rows, { layer1: "Sequential", "layer2.0": "Bottleneck" });
  const nodes = nodesOf(rows, folds);
  const layout = layoutRows(nodes, [...nodes.keys()], tree, height, row);
  const space = nameColumns(tree, slim ? 166 : 256, measure, slim);
  const byName = new Map(rows.map((each) => [each.name, each]));
  return { layout, space, names: placeNames(layout, nodes, byName, space) };
}

test("layers, blocks and small modules are named, tensors of 4 px are not", () => {
  const { names } = placed(resnet50(), ["layer1"]);
  const texts = names.labels.map((label) => label.text);
  assert.deepEqual(texts.slice(0, 8), ["conv1", "bn1", "layer1", "layer2", "0", "1", "2", "3"]);
  const at = (path: string) => names.labels.find((label) => label.path === path)!;
  assert.equal(at("conv1").right, "1 tensor");
  assert.equal(at("layer1").right, "30 tensors");
  assert.equal(at("layer1").folded, true);
  assert.equal(at("layer2").folded, false);
  assert.equal(at("bn1").folded, undefined);
  assert.equal(at("layer2.0").right, "12");
  assert.equal(at("layer2.0").detail, "Bottleneck");
  assert.equal(at("layer2.0").y, at("layer2").y, "a layer and its first block stand on one line");
});

test("rows of 14 px are named with their shapes, on the line of their module", () => {
  const { names, layout } = placed(resnet50(), [], 642, 16);
  const conv = names.labels.find((label) => label.path === "layer2.0.conv2.weight")!;
  assert.equal(conv.text, "conv2.weight");
  assert.equal(conv.right, "128×128×3×3");
  const band = layout.bands[conv.first]!;
  assert.ok(conv.y >= band.y - 1 && conv.y + NAME_PX <= band.y + band.h + 1);
  const block = names.labels.find((label) => label.path === "layer2.0")!;
  const first = names.labels.find((label) => label.path === "layer2.0.conv1.weight")!;
  assert.equal(block.y, first.y);
  assert.equal(block.right, "", "its tensors say more");
});

test("no two names of a column touch, at any height and fold", () => {
  const random = seeded(9);
  for (let round = 0; round < 150; round++) {
    const rows = pick(random, [resnet50, () => gpt(whole(random, 1, 40))])();
    const tops = buildTree(rows, {}).tops.filter((top) => top.foldable && random() < 0.4);
    const row = random() < 0.5 ? whole(random, 1, 40) : null;
    const { names } = placed(
      rows,
      tops.map((top) => top.path),
      whole(random, 50, 1200),
      row,
      random() < 0.3,
    );
    const columns = new Map<number, number>();
    for (const label of [...names.labels].sort((a, b) => a.y - b.y)) {
      assert.ok(label.y >= (columns.get(label.x) ?? -1000), `${label.path} at ${label.y}`);
      columns.set(label.x, label.y + NAME_PX);
    }
    const paths = names.labels.map((label) => label.path);
    assert.equal(new Set(paths).size, paths.length, "one name each");
  }
});

test("columns leave half of the room to the tensors, however long the names are", () => {
  const rows = ["averyveryverylongencodername", "b"].flatMap((top) =>
    [0, 1].flatMap((k) => ["x.y", "x.z"].map((leaf) => `${top}.anotherverylongname.${k}.${leaf}.weight`)),
  );
  const tree = buildTree(
    rows.map((name) => ({
      name,
      module: name.slice(0, name.lastIndexOf(".")),
      class: "",
      shape: [1],
      dtype: "float32",
      trainable: true,
    })),
    {},
  );
  for (const [width, slim] of [
    [256, false],
    [166, true],
  ] as const) {
    const { columns } = nameColumns(tree, width, measure, slim);
    assert.ok(columns.at(-1)! < width * 0.85, `${columns}`);
    assert.ok(columns.every((x, k) => k === 0 || x > columns[k - 1]!));
  }
});

test("brackets span what belongs to a layer", () => {
  const { names, layout } = placed(resnet50(), ["layer1"]);
  assert.equal(names.brackets.length, 3);
  const blocks = layout.units.filter((unit) => unit.branch?.path.startsWith("layer2."));
  const bracket = names.brackets[0]!;
  assert.equal(bracket.y, blocks[0]!.y);
  assert.equal(bracket.y + bracket.h, blocks.at(-1)!.y + blocks.at(-1)!.h);
});

test("the slim layout has names only", () => {
  const { names } = placed(resnet50(), [], 642, 16, true);
  assert.ok(names.labels.every((label) => label.right === "" && label.detail === ""));
});

test("shapes are written with a cross", () => {
  assert.equal(shapeText([256, 1024, 1, 1]), "256×1024×1×1");
  assert.equal(shapeText([]), "1");
});
