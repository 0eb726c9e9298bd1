import assert from "node:assert/strict";
import { test } from "node:test";
import type { RowInfo } from "../../../src/panels/weights/contract.ts";
import { type Branch, buildTree, relative } from "../../../src/panels/weights/tree.ts";
import { gpt, resnet50, row } from "./models.ts";

/** `layer1(0 1 2)` for each top. */
function outline(rows: readonly RowInfo[]): string {
  const write = (branch: Branch): string =>
    branch.children.length ? `${branch.name}(${branch.children.map(write).join(" ")})` : branch.name;
  return buildTree(rows, {}).tops.map(write).join(" ");
}

test("a ResNet has layers and blocks, and no name for every convolution", () => {
  assert.equal(
    outline(resnet50()),
    "conv1 bn1 layer1(0 1 2) layer2(0 1 2 3) layer3(0 1 2 3 4 5) layer4(0 1 2) fc",
  );
});

test("a wrapper around the whole model adds no level", () => {
  assert.equal(outline(gpt(2)), "wte wpe h(0 1) ln_f");
  assert.equal(outline(gpt(2, "module.transformer.")), "wte wpe h(0 1) ln_f");
});

test("lists of blocks two levels down get names, single modules in between share one", () => {
  const rows = ["bert.embeddings.word.weight", "bert.embeddings.position.weight"];
  for (const k of [0, 1, 2])
    for (const part of ["attention.query", "attention.key", "output.dense", "output.norm"])
      rows.push(`bert.encoder.layer.${k}.${part}.weight`);
  rows.push("cls.predictions.dense.weight");
  assert.equal(
    outline(rows.map((name) => row(name))),
    "bert(embeddings encoder.layer(0 1 2)) cls.predictions",
  );
});

test("a small network is its modules, and tensors that the model holds itself stand among them", () => {
  const rows = ["features.0.weight", "features.0.bias", "features.3.weight", "scale", "fc.weight", "fc.bias"];
  const tree = buildTree(
    rows.map((name) => row(name)),
    { features: "Sequential" },
  );
  assert.deepEqual(
    tree.tops.map(({ name, foldable, tensor, className }) => ({ name, foldable, tensor, className })),
    [
      { name: "features", foldable: true, tensor: false, className: "Sequential" },
      { name: "scale", foldable: false, tensor: true, className: "" },
      { name: "fc", foldable: false, tensor: false, className: "" },
    ],
  );
});

test("every tensor has the deepest branch around it as owner, and lies within its rows", () => {
  for (const rows of [resnet50(), gpt(3)]) {
    const tree = buildTree(rows, {});
    rows.forEach(({ name }, index) => {
      const owner = tree.owner(name)!;
      assert.ok(owner.from <= index && index < owner.to, name);
      assert.equal(owner.children.length, 0, name);
    });
  }
  const tree = buildTree(resnet50(), {});
  assert.equal(tree.owner("layer2.0.downsample.0.weight")?.path, "layer2.0");
  assert.equal(tree.owner("layer2")?.path, "layer2");
  assert.equal(tree.owner("layer22.x"), undefined);
});

test("paths with slashes are modules too", () => {
  const rows = ["a/x/kernel", "a/y/kernel", "b/kernel"].map((name) => ({
    ...row(name),
    module: name.slice(0, name.lastIndexOf("/")),
  }));
  assert.equal(buildTree(rows, {}).owner("a/x/kernel")?.path, "a");
});

test("a relative path cuts whole parts only", () => {
  assert.equal(relative("layer1.0.conv1", "layer1"), "0.conv1");
  assert.equal(relative("layer10.conv1", "layer1"), "layer10.conv1");
  assert.equal(relative("fc.weight", ""), "fc.weight");
});

test("a model without parameters is an empty tree", () => {
  assert.deepEqual(buildTree([], {}).tops, []);
});
