import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHash, pluginLink, withEntry } from "../../src/host/link.ts";
import type { HostWindow } from "../../src/host/parent.ts";

/** A page with an address. `storage` adds TensorBoard's own way to it, which knows nothing of ours. */
function page(hash: string, storage = false) {
  const state = { hash, replaced: 0, stored: 0 };
  const window = {
    location: {
      href: "http://tb/",
      search: "",
      get hash() {
        return state.hash;
      },
    },
    history: {
      state: null,
      replaceState(_state: unknown, _unused: string, url: string) {
        state.hash = url;
        state.replaced++;
      },
    },
    document: {} as Document,
    ...(storage && {
      tensorboard: {
        tf_storage: {
          getString: () => "",
          setString(key: string, value: string) {
            state.hash = withEntry(state.hash, key, value);
            state.stored++;
          },
        },
      },
    }),
  } satisfies HostWindow;
  return { state, reach: <T>(use: (page: HostWindow) => T): T => use(window) };
}

test("reads its own entries and nobody else's", () => {
  const hash =
    "#zentracer_weights&p.zentracer_weights.run=a%2Fb&p.other.run=c&tagFilter=x&p.zentracer_weights.row=3";
  assert.deepEqual(parseHash(hash, "p.zentracer_weights."), { run: "a/b", row: "3" });
});

test("half an escape, cut by hand, costs that entry only", () => {
  assert.deepEqual(parseHash("#x&p.w.run=%E2%8&p.w.step=5", "p.w."), { step: "5" });
});

test("an entry is replaced, added and removed, and everything else stays", () => {
  assert.equal(withEntry("#scalars&a=1&p.w.run=old&b=2", "p.w.run", "new"), "#scalars&a=1&b=2&p.w.run=new");
  assert.equal(withEntry("#scalars&p.w.run=old", "p.w.run", ""), "#scalars");
  assert.equal(withEntry("", "p.w.run", "a=b&c#d %"), "#p.w.run=a%3Db%26c%23d%20%25");
});

test("what is written is read again, through TensorBoard's storage and without it", () => {
  const values = { run: "résumé/lr=0.4&x#1", window: "0..24000", filter: "^layer[12]\\..*=", empty: "" };
  for (const storage of [true, false]) {
    const { state, reach } = page("#zentracer_weights", storage);
    pluginLink("zentracer_weights", reach).write(values);
    const { empty: _, ...filled } = values;
    assert.deepEqual(pluginLink("zentracer_weights", reach).read(), filled);
    assert.ok(state.hash.startsWith("#zentracer_weights&"), "the tab stays the first part");
    assert.equal(storage ? state.replaced : state.stored, 0);
  }
});

test("only what changed is written", () => {
  const { state, reach } = page("#w&p.w.run=a");
  const link = pluginLink("w", reach);
  link.read();
  link.write({ run: "a", step: "5" });
  assert.equal(state.replaced, 1);
  link.write({ run: "a", step: "5" });
  assert.equal(state.replaced, 1);
  link.write({ run: "", step: "5" });
  assert.equal(state.hash, "#w&p.w.step=5");
});

test("a page that does not let us in is read as empty and written in silence", () => {
  const link = pluginLink("w", (_use, otherwise) => otherwise);
  assert.deepEqual(link.read(), {});
  link.write({ run: "a" });
});
