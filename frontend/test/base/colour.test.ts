import assert from "node:assert/strict";
import { test } from "node:test";
import { css, pixel, SCALE_SIZE, STOPS, scaleTable } from "../../src/base/colour.ts";

type Matrix = readonly (readonly number[])[];

/** OKLab by its definition over CIE XYZ, where the code goes straight from linear sRGB. */
const XYZ_OF_RGB: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const LMS_OF_XYZ: Matrix = [
  [0.8189330101, 0.3618667424, -0.1288597137],
  [0.0329845436, 0.9293118715, 0.0361456387],
  [0.0482003018, 0.2643662691, 0.633851707],
];
const LAB_OF_LMS: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

const times = (matrix: Matrix, vector: readonly number[]): number[] =>
  matrix.map((row) => row.reduce((sum, entry, k) => sum + entry * vector[k]!, 0));

function inverse(matrix: Matrix): Matrix {
  const [A, B, C, D, E, F, G, H, I] = matrix.flat() as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const det = A * (E * I - F * H) - B * (D * I - F * G) + C * (D * H - E * G);
  return [
    [(E * I - F * H) / det, (C * H - B * I) / det, (B * F - C * E) / det],
    [(F * G - D * I) / det, (A * I - C * G) / det, (C * D - A * F) / det],
    [(D * H - E * G) / det, (B * G - A * H) / det, (A * E - B * D) / det],
  ];
}

function labOf(hex: string): number[] {
  const rgb = [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return times(LAB_OF_LMS, times(LMS_OF_XYZ, times(XYZ_OF_RGB, rgb)).map(Math.cbrt));
}

function rgbOf(lab: readonly number[]): number[] {
  const lms = times(inverse(LAB_OF_LMS), lab).map((entry) => entry ** 3);
  return times(inverse(XYZ_OF_RGB), times(inverse(LMS_OF_XYZ), lms)).map((c) => {
    const coded = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
    return 255 * Math.min(1, Math.max(0, coded));
  });
}

const channels = (packed: number) => [packed & 255, (packed >> 8) & 255, (packed >> 16) & 255];

for (const [name, themes] of Object.entries(STOPS))
  for (const [theme, stops] of Object.entries(themes))
    test(`the ${name} scale in ${theme} is interpolated in OKLab`, () => {
      const table = scaleTable(stops);
      assert.equal(table.length, SCALE_SIZE);
      const labs = stops.map(labOf);
      table.forEach((entry, i) => {
        const at = (i / (SCALE_SIZE - 1)) * (stops.length - 1);
        const k = Math.min(stops.length - 2, Math.floor(at));
        const mixed = labs[k]!.map((from: number, j: number) => from + (labs[k + 1]![j]! - from) * (at - k));
        rgbOf(mixed).forEach((want, c) => {
          // the two published matrices agree to about a level of 255
          assert.ok(Math.abs(want - channels(entry)[c]!) <= 1.6, `entry ${i}, channel ${c}: ${want}`);
        });
        assert.equal(entry >>> 24, 255, "opaque");
      });
      assert.equal(table[0], pixel(stops[0]!));
      assert.equal(table[SCALE_SIZE - 1], pixel(stops.at(-1)!));
    });

test("the diverging scales grow lighter or darker evenly away from their middle", () => {
  for (const theme of ["light", "dark"] as const) {
    const light = [...scaleTable(STOPS.diverging[theme])].map((entry) => {
      const hex = channels(entry).map((c) => c.toString(16).padStart(2, "0"));
      return labOf(`#${hex.join("")}`)[0]!;
    });
    const sign = theme === "light" ? 1 : -1;
    for (let i = 1; i < 256; i++) {
      assert.ok(sign * (light[i]! - light[i - 1]!) > -0.004, `${theme} ${i}`);
      assert.ok(sign * (light[511 - i]! - light[512 - i]!) > -0.004, `${theme} ${511 - i}`);
    }
  }
});

test("a pixel is written as ImageData of a little-endian machine has it, and as CSS", () => {
  const bytes = new Uint8Array(Uint32Array.of(pixel("#0a80ff")).buffer);
  assert.deepEqual([...bytes], [0x0a, 0x80, 0xff, 0xff]);
  assert.equal(css(pixel("#0a80ff")), "rgb(10,128,255)");
});
