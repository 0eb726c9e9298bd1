import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../../../src/panels/weights/keymap.ts";

const NONE = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
const press = (key: string, more = {}) => commandOf({ key, ...NONE, ...more });
const SHIFT = { shiftKey: true };

test("each key does what the help says", () => {
  assert.deepEqual(press("ArrowLeft"), { do: "step", samples: -1 });
  assert.deepEqual(press("ArrowRight", SHIFT), { do: "step", samples: 10 });
  assert.deepEqual(press("ArrowUp"), { do: "row", by: -1 });
  assert.deepEqual(press("ArrowDown"), { do: "row", by: 1 });
  assert.deepEqual(press("Home"), { do: "first" });
  assert.deepEqual(press("End"), { do: "last" });
  assert.deepEqual(press(" "), { do: "play" });
  assert.deepEqual(press("Escape"), { do: "close" });
  assert.deepEqual(press("0"), { do: "reset" });
  assert.deepEqual(press("/"), { do: "filter" });
  assert.deepEqual(press("?", SHIFT), { do: "help" });
});

test("plus and minus zoom steps, with shift rows, on keyboards with and without a key for plus", () => {
  assert.deepEqual(press("="), { do: "zoom-steps", by: 1 });
  assert.deepEqual(press("+"), { do: "zoom-steps", by: 1 });
  assert.deepEqual(press("-"), { do: "zoom-steps", by: -1 });
  assert.deepEqual(press("+", SHIFT), { do: "zoom-rows", by: 1 });
  assert.deepEqual(press("*", SHIFT), { do: "zoom-rows", by: 1 });
  assert.deepEqual(press("_", SHIFT), { do: "zoom-rows", by: -1 });
});

test("the browser's and the system's keys stay theirs", () => {
  for (const key of ["0", "+", "-", "ArrowLeft", "Home"])
    for (const held of ["ctrlKey", "metaKey", "altKey"])
      assert.equal(press(key, { [held]: true }), undefined);
  assert.equal(press("Tab"), undefined);
  assert.equal(press("a"), undefined);
});
