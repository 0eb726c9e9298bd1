import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytes,
  count,
  decimals,
  duration,
  percent,
  plain,
  plural,
  powerOfTen,
  scientific,
  whole,
} from "../../src/base/numbers.ts";

const cases: [string, (value: number) => string, [number, string][]][] = [
  [
    "ratios and gradient norms have an exponent",
    scientific,
    [
      [3.34e-6, "3.34e−6"],
      [-0.001, "−1.00e−3"],
      [9.999e-4, "1.00e−3"],
      [26.72, "2.67e1"],
      [0, "0"],
      [Number.NaN, "NaN"],
      [Infinity, "+Inf"],
      [-Infinity, "−Inf"],
    ],
  ],
  [
    "norms have one outside 0.01 to 99,999 only",
    plain,
    [
      [26.72, "26.72"],
      [-26.72, "−26.72"],
      [12_345.678, "12,345.68"],
      [99_999, "99,999.00"],
      [100_001, "1.00e5"],
      [0.01, "0.01"],
      [0.00999, "9.99e−3"],
      [0, "0"],
      [Number.NaN, "NaN"],
    ],
  ],
  [
    "cosines and losses have three decimals",
    decimals,
    [
      [0.99312, "0.993"],
      [-0.5, "−0.500"],
      [2.03, "2.030"],
      [0, "0"],
    ],
  ],
  [
    "fractions are percent",
    percent,
    [
      [0.014, "1.4 %"],
      [1, "100 %"],
      [0.5, "50 %"],
      [0.0004, "0.040 %"],
      [1e-6, "1.00e−4 %"],
      [0, "0 %"],
      [Number.NaN, "NaN"],
    ],
  ],
  [
    "steps have commas and stay exact",
    whole,
    [
      [12_400, "12,400"],
      [999, "999"],
      [1_234_567, "1,234,567"],
      [-1000, "−1,000"],
      [0, "0"],
    ],
  ],
  [
    "counts have a letter from a million on",
    count,
    [
      [12_400, "12,400"],
      [999_999, "999,999"],
      [25_557_032, "25.6 M"],
      [7e9, "7.0 G"],
    ],
  ],
  [
    "bytes",
    bytes,
    [
      [0, "0 B"],
      [999, "999 B"],
      [1234, "1.2 kB"],
      [441e6, "441 MB"],
      [6.9e9, "6.9 GB"],
      [999_700, "1.0 MB"],
    ],
  ],
  [
    "exponents of ten",
    powerOfTen,
    [
      [-3, "1e−3"],
      [0, "1e0"],
      [5, "1e5"],
    ],
  ],
  [
    "durations in the unit that says most",
    duration,
    [
      [2.4, "2 s"],
      [-1, "0 s"],
      [89, "89 s"],
      [300, "5 min"],
      [7200, "2 h"],
      [3 * 86_400, "3 d"],
    ],
  ],
];

for (const [name, write, pairs] of cases)
  test(name, () => {
    for (const [value, text] of pairs) assert.equal(write(value), text);
  });

test("one of a thing has no s", () => {
  assert.equal(plural(1, "tensor"), "1 tensor");
  assert.equal(plural(0, "run"), "0 runs");
  assert.equal(plural(1200, "cell"), "1,200 cells");
});
