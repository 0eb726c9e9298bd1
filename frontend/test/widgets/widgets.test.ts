/** Widgets without state, as the elements they give. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComponentChildren, VNode } from "preact";
import type { RunsAnswer } from "../../src/panels/weights/contract.ts";
import { NoData } from "../../src/panels/weights/panes.tsx";
import { Filter } from "../../src/widgets/filter.tsx";
import { Run } from "../../src/widgets/runs.tsx";

type Element = VNode<Record<string, unknown>>;

/** An element and all within it, and the words between them. */
function* within(tree: ComponentChildren): Generator<Element | string> {
  if (Array.isArray(tree)) for (const each of tree) yield* within(each);
  else if (typeof tree === "string") yield tree;
  else if (tree && typeof tree === "object") {
    yield tree as Element;
    yield* within((tree as Element).props.children as ComponentChildren);
  }
}

const elements = (tree: ComponentChildren) => [...within(tree)].filter((each) => typeof each !== "string");
const words = (tree: ComponentChildren) =>
  [...within(tree)].filter((each) => typeof each === "string").join(" ");

test("a filter that is no expression yet says so to those who cannot see it, a valid one says nothing", () => {
  const filter = (valid: boolean) =>
    Filter({ icon: "filter", label: "Filter", value: "(", valid, testId: "f", onChange: () => undefined });
  const input = (valid: boolean) => elements(filter(valid)).find((each) => each.type === "input")!.props;
  const why = elements(filter(false)).find((each) => each.props.id === input(false)["aria-describedby"]);
  assert.match(words(why), /^This is not a regular expression yet, so nothing is filtered\.$/);
  assert.equal(input(true)["aria-describedby"], undefined);
  assert.equal(words(filter(true)), "");
});

test("a run picked by pointer lets go of the arrow keys, one picked by key keeps them", () => {
  const did: string[] = [];
  const run = Run({
    run: { name: "a", glyph: "live", word: "live", right: "" },
    label: "a",
    indented: false,
    chosen: false,
    focusable: true,
    onChoose: (name) => did.push(name),
  });
  const click = (run.props as { onClick(event: object): void }).onClick;
  const currentTarget = { blur: () => did.push("blur") };
  click({ detail: 0, currentTarget });
  assert.deepEqual(did, ["a"]);
  click({ detail: 1, currentTarget });
  assert.deepEqual(did, ["a", "a", "blur"]);
});

test("an empty logdir tells what the call costs", () => {
  const runs = { logdir: "runs", looks_again_s: 5, found: { runs: 0 } } as unknown as RunsAnswer;
  assert.match(words(NoData({ runs })), /By default it takes about 2 % of a step;/);
});
