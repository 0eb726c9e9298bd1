import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHash, withEntry } from "../../../src/host/link.ts";
import { type Choices, DEFAULTS, fromLink, toLink } from "../../../src/panels/weights/choices.ts";
import { between, pick, type Random, seeded, whole } from "../../random.ts";

function randomChoices(random: Random): Choices {
  const maybe = <T>(value: T): T | null => (random() < 0.5 ? value : null);
  const from = whole(random, 0, 1e5) / 8;
  const low = Number((10 ** between(random, -8, 0)).toPrecision(5));
  const limits = maybe({ low, high: Number((low * 128).toPrecision(6)) });
  return {
    run: maybe(pick(random, ["a", "resnet50/lr0.4/seed0", "ä=b&c#d", ".."])),
    scope: maybe("generator"),
    statistic: pick(random, ["update_ratio", "weight_norm"]),
    window: maybe({ from, to: from + whole(random, 2, 1e5) / 8 }),
    follow: random() < 0.5,
    limits,
    held: limits !== null && random() < 0.5,
    folds: new Set(["layer1", "layer4.1", "a/b,c", "x%2Cy"].filter(() => random() < 0.4)),
    filter: pick(random, ["", "^layer[12]\\..*bias$", "a=b&c"]),
    row: maybe(whole(random, 1, 40)),
    step: maybe(whole(random, 0, 1e6)),
    until: maybe(whole(random, 0, 9)),
    shift: random() < 0.5,
  };
}

test("a view written into an address is the same view when read again", () => {
  const random = seeded(15);
  for (let round = 0; round < 300; round++) {
    const choices = randomChoices(random);
    let hash = "#zentracer_weights&tagFilter=x";
    for (const [key, value] of Object.entries(toLink(choices))) hash = withEntry(hash, `p.w.${key}`, value);
    assert.deepEqual(fromLink(parseHash(hash, "p.w.")), choices);
  }
});

test("the view one starts with leaves the address as it is", () => {
  assert.ok(Object.values(toLink(DEFAULTS)).every((value) => value === ""));
  assert.deepEqual(fromLink({}), DEFAULTS);
});

test("what a link cannot mean is left at its default", () => {
  const broken = { window: "9..3", limits: "1e-5", row: "-4", step: "x", folds: "%E2%8,ok", follow: "maybe" };
  assert.deepEqual(fromLink(broken), { ...DEFAULTS, folds: new Set(["%E2%8", "ok"]) });
  assert.equal(fromLink({ limits: "held:" }).held, false);
  assert.equal(fromLink({ window: "3..Infinity" }).window, null);
  assert.equal(fromLink({ until: "-1" }).until, null);
  assert.equal(fromLink({ until: "2.5" }).until, 2);
  assert.equal(fromLink({ shift: "yes" }).shift, false);
});

test("an address is no longer than a view needs", () => {
  const link = toLink({
    ...DEFAULTS,
    window: { from: 10_944.429973486, to: 14_463 },
    limits: { low: 10 ** -5.5, high: 0.1 },
  });
  assert.equal(link.window, "10944.43..14463");
  assert.equal(link.limits, "0.00000316228..0.1");
});
