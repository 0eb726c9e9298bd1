import assert from "node:assert/strict";
import { test } from "node:test";
import { column, decodeColumns } from "../../src/base/columns.ts";
import { packed } from "../answers.ts";
import { seeded, whole } from "../random.ts";

const bytesOf = (values: { buffer: ArrayBufferLike; byteOffset: number; byteLength: number }) =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

test("what was packed is decoded, whatever the lengths", () => {
  const random = seeded(1);
  for (let round = 0; round < 50; round++) {
    const edges = Float64Array.from({ length: whole(random, 1, 9) }, random);
    const mean = Float32Array.from({ length: 2 * whole(random, 0, 9) }, () => random() - 0.5);
    const status = Uint8Array.from({ length: whole(random, 0, 11) }, () => whole(random, 0, 255));
    const nan = Uint32Array.from({ length: whole(random, 0, 5) }, () => whole(random, 0, 4e9));
    const buffer = packed(
      { run: "ä".repeat(round) },
      {
        edges: { dtype: "<f8", shape: [edges.length], values: bytesOf(edges) },
        mean: { dtype: "<f4", shape: [2, mean.length / 2], values: bytesOf(mean) },
        status: { dtype: "|u1", shape: [status.length], values: status },
        nan: { dtype: "<u4", shape: [nan.length], values: bytesOf(nan) },
      },
    );
    const decoded = decodeColumns(buffer);
    assert.equal(decoded.header.run, "ä".repeat(round));
    assert.deepEqual(column(decoded, "edges", Float64Array), edges);
    assert.deepEqual(column(decoded, "mean", Float32Array), mean);
    assert.deepEqual(column(decoded, "status", Uint8Array), status);
    assert.deepEqual(column<Uint8Array | Uint32Array>(decoded, "nan", Uint8Array, Uint32Array), nan);
  }
});

test("NaN and the infinities keep their bits", () => {
  const mean = Float32Array.of(Number.NaN, Infinity, -Infinity, -0);
  const buffer = packed({}, { mean: { dtype: "<f4", shape: [4], values: bytesOf(mean) } });
  assert.deepEqual(bytesOf(column(decodeColumns(buffer), "mean", Float32Array)), bytesOf(mean));
});

test("an answer that broke off says where", () => {
  const buffer = packed({}, { mean: { dtype: "<f4", shape: [2], values: new Uint8Array(8) } });
  assert.throws(() => decodeColumns(buffer.slice(0, 3)), /An answer of 3 bytes has no header\./);
  assert.throws(
    () => decodeColumns(buffer.slice(0, 12)),
    /The header ends at byte \d+ of an answer of 12 bytes\./,
  );
  assert.throws(() => decodeColumns(buffer.slice(0, buffer.byteLength - 4)), RangeError);
});

test("a type that nobody agreed on is refused by name", () => {
  const buffer = packed({}, { mean: { dtype: "<f2", shape: [1], values: new Uint8Array(2) } });
  assert.throws(() => decodeColumns(buffer), /Array 'mean' has the unknown type '<f2'\./);
});

test("an array of another type than the contract's is refused, and so is none", () => {
  const decoded = decodeColumns(
    packed({}, { mean: { dtype: "<f4", shape: [1], values: new Uint8Array(4) } }),
  );
  assert.throws(
    () => column(decoded, "mean", Float64Array),
    /'mean' should be Float64Array and is Float32Array\./,
  );
  assert.throws(() => column(decoded, "min", Float32Array), /'min' should be Float32Array and is absent\./);
});
