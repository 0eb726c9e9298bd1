import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { fetched } from "../../src/host/fetched.ts";

/** Questions that are answered when the test says so. */
function questions() {
  const out: { key: string; answer(value: string): void; fail(): void; abort: AbortSignal }[] = [];
  const load = (key: string, abort: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      out.push({ key, abort, answer: resolve, fail: () => reject(new Error(`no ${key}`)) });
    });
  return { out, load };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("one question is out at a time, and the newest key is asked next", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { answer } = fetched(key, load);
  key.value = "a2";
  key.value = "a3";
  assert.deepEqual(
    out.map((each) => each.key),
    ["a1"],
  );
  out[0]!.answer("one");
  await settle();
  assert.deepEqual(
    answer.value,
    { key: "a1", value: "one" },
    "an older answer is shown until the newer is here",
  );
  assert.deepEqual(
    out.map((each) => each.key),
    ["a1", "a3"],
  );
  out[1]!.answer("three");
  await settle();
  assert.deepEqual(answer.value, { key: "a3", value: "three" });
  assert.equal(out.length, 2);
});

test("an unrelated key aborts the question and drops the answer", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { answer } = fetched(key, load, (older, newer) => older[0] === newer[0]);
  out[0]!.answer("one");
  await settle();
  key.value = "a2";
  key.value = "b1";
  assert.equal(answer.value, null);
  assert.ok(out[1]!.abort.aborted);
  assert.equal(out[2]!.key, "b1");
  out[1]!.answer("late");
  out[2]!.answer("b");
  await settle();
  assert.deepEqual(answer.value, { key: "b1", value: "b" });
});

test("an outlived question is aborted at once, and its answer still shown until the newer is here", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { answer } = fetched(
    key,
    load,
    () => true,
    (older, newer) => older[0] !== newer[0],
  );
  out[0]!.answer("one");
  await settle();
  key.value = "a2";
  key.value = "a3";
  assert.equal(out.length, 2, "this one waits");
  key.value = "b1";
  assert.ok(out[1]!.abort.aborted);
  assert.deepEqual(answer.value, { key: "a1", value: "one" });
  out[1]!.answer("late");
  out[2]!.answer("b");
  await settle();
  assert.deepEqual(answer.value, { key: "b1", value: "b" });
  assert.equal(out.length, 3);
});

test("no key asks nothing and forgets", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { answer } = fetched(key, load);
  out[0]!.answer("one");
  await settle();
  key.value = null;
  assert.equal(answer.value, null);
  assert.equal(out.length, 1);
});

test("an error keeps the old answer, and goes with the next good one", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { answer, error, retry } = fetched(key, load);
  out[0]!.answer("one");
  await settle();
  key.value = "a2";
  out[1]!.fail();
  await settle();
  assert.equal(answer.value?.value, "one");
  assert.equal(error.value?.error.message, "no a2");
  assert.equal(out.length, 2, "the same key is not asked again by itself");
  retry();
  retry();
  assert.equal(out.length, 3, "once is enough");
  out[2]!.answer("two");
  await settle();
  assert.equal(answer.value?.value, "two");
  assert.equal(error.value, null);
  retry();
  assert.equal(out.length, 3, "nothing failed, nothing is asked again");
});

test("the error of something unrelated goes at once", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { error } = fetched(key, load, (older, newer) => older[0] === newer[0]);
  out[0]!.fail();
  await settle();
  key.value = "a2";
  assert.equal(error.value?.key, "a1");
  key.value = "b1";
  assert.equal(error.value, null);
});

test("no key, no error", async () => {
  const key = signal<string | null>("a1");
  const { out, load } = questions();
  const { error } = fetched(key, load);
  out[0]!.fail();
  await settle();
  assert.equal(error.value?.key, "a1");
  key.value = null;
  assert.equal(error.value, null);
});
