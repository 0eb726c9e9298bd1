import assert from "node:assert/strict";
import { test } from "node:test";
import { SCALE_SIZE } from "../../../src/base/colour.ts";
import { MARK } from "../../../src/panels/weights/codes.ts";
import {
  columnsOf,
  createRaster,
  MARK_PX,
  paint,
  type Scene,
  widen,
} from "../../../src/panels/weights/paint.ts";
import { markPixel, palette } from "../../../src/panels/weights/palette.ts";
import { type Coded, pictureCodes } from "../../../src/panels/weights/strata.ts";
import { between, pick, type Random, seeded, whole } from "../../random.ts";

const INK = palette("light", "diverging");
const REACH = 64;

function painted(scene: Scene, width: number, height: number, ratio: number): Uint32Array {
  const pixels = new Uint32Array(width * height);
  paint(createRaster(width, height, ratio, pixels), scene);
  return pixels;
}

/** The same picture, one pixel at a time, by asking for each what covers it. */
function slowPicture(scene: Scene, width: number, height: number, ratio: number): Uint32Array {
  const pixels = new Uint32Array(width * height).fill(scene.ink.background);
  const least = Math.ceil(MARK_PX * ratio);
  const pixelSteps = (scene.span.to - scene.span.from) / width;

  function codeAt(stratum: number, x: number): number {
    for (const source of scene.sources) {
      const row = source.strata[stratum]!;
      const left = scene.span.from + x * pixelSteps;
      const middle = left + pixelSteps / 2;
      const under: number[] = [];
      for (let cell = 0; cell < source.cells; cell++) {
        const [from, to] = [source.edges[cell]!, source.edges[cell + 1]!];
        const holdsCentre = (from + to) / 2 >= left && (from + to) / 2 < left + pixelSteps;
        if (holdsCentre || (from <= middle && middle < to))
          under.push(source.codes[row * source.cells + cell]!);
      }
      if (!under.length) continue;
      const worst = Math.max(...under);
      const values = under.filter((code) => code < SCALE_SIZE);
      if (worst >= MARK.INF || !values.length) return worst;
      const mean = values.reduce((sum, code) => sum + code, 0) / values.length;
      if (Math.max(...values) - mean > scene.reach) return Math.max(...values);
      if (mean - Math.min(...values) > scene.reach) return Math.min(...values);
      return Math.round(mean);
    }
    return scene.outside;
  }

  /** The highest mark whose run, made wide enough, covers the pixel; what is outside stays outside. */
  function widened(line: readonly number[]): number[] {
    return line.map((code, x) => {
      if (code === MARK.NOTHING || code === MARK.UNREAD) return code;
      const covering = code >= MARK.MISSING ? [code] : [];
      for (let start = 0; start < line.length; ) {
        let end = start;
        while (end < line.length && line[end] === line[start]) end++;
        const lacking = Math.max(0, least - (end - start));
        const right = Math.min(line.length, end + Math.ceil(lacking / 2));
        const left = Math.max(0, right - least);
        if (line[start]! >= MARK.MISSING && lacking && x >= left && x < left + least)
          covering.push(line[start]!);
        start = end;
      }
      return covering.length ? Math.max(...covering) : code;
    });
  }

  for (const band of scene.bands) {
    const top = Math.round((band.y - scene.scroll) * ratio);
    const bottom = Math.round((band.y + band.h - scene.scroll) * ratio);
    const h = bottom - top;
    const line = (stratum: number) =>
      widened(Array.from({ length: width }, (_, x) => codeAt(band.node * 4 + stratum, x)));
    const isLeaf = scene.sources[0]!.strata[band.node * 4] === scene.sources[0]!.strata[band.node * 4 + 1];
    const edge = Math.max(1, Math.round(h * 0.27));
    const lines =
      isLeaf || h < 3
        ? [{ from: top, to: bottom, line: line(3) }]
        : [
            { from: top, to: top + edge, line: line(0) },
            { from: top + edge, to: bottom - edge, line: line(1) },
            { from: bottom - edge, to: bottom, line: line(2) },
          ];
    for (const { from, to, line } of lines)
      for (let y = Math.max(0, from); y < Math.min(height, to); y++)
        for (let x = 0; x < width; x++) {
          const code = line[x]!;
          pixels[y * width + x] =
            code < SCALE_SIZE
              ? scene.ink.scale[code]!
              : markPixel(scene.ink, code, Math.floor(x / ratio), Math.floor(y / ratio + scene.scroll));
        }
  }
  return pixels;
}

function randomCodes(random: Random, length: number): Uint16Array {
  const codes = new Uint16Array(length);
  for (let i = 0; i < length; ) {
    const code = random() < 0.75 ? whole(random, 0, 511) : pick(random, Object.values(MARK));
    const run = whole(random, 1, 6);
    for (let k = 0; k < run && i < length; k++, i++)
      codes[i] = code < SCALE_SIZE ? Math.min(511, Math.max(0, code + whole(random, -9, 9))) : code;
  }
  return codes;
}

function randomSource(random: Random, nodes: readonly boolean[], from: number, to: number): Coded {
  const cells = whole(random, 1, 90);
  const inner = Array.from({ length: cells - 1 }, () => between(random, from, to)).sort((a, b) => a - b);
  const strata: number[] = [];
  let rows = 0;
  for (const isLeaf of nodes) {
    for (let k = 0; k < 4; k++) strata.push(isLeaf ? rows : rows + k);
    rows += isLeaf ? 1 : 4;
  }
  return {
    codes: randomCodes(random, rows * cells),
    cells,
    edges: Float64Array.from([from, ...inner, to]),
    strata: Int32Array.from(strata),
  };
}

test("the painter paints what a slow, obvious painter paints", () => {
  const random = seeded(12);
  for (let round = 0; round < 150; round++) {
    const nodes = Array.from({ length: whole(random, 1, 8) }, () => random() < 0.6);
    let y = 0;
    const bands = nodes.map((isLeaf, node) => {
      y += whole(random, 0, 3);
      const band = { node, y, h: whole(random, 1, isLeaf ? 6 : 16) };
      y += band.h;
      return band;
    });
    const from = between(random, -20, 80);
    const scene: Scene = {
      span: { from, to: from + between(random, 5, 140) },
      sources: [randomSource(random, nodes, 20, 70), randomSource(random, nodes, 0, 100)].slice(
        0,
        whole(random, 1, 2),
      ),
      bands,
      scroll: whole(random, 0, Math.max(0, y - 10)),
      ink: INK,
      reach: REACH,
      outside: pick(random, [MARK.NOTHING, MARK.UNREAD]),
    };
    const [width, ratio] = [whole(random, 5, 120), pick(random, [1, 1.5, 2])];
    const height = whole(random, 5, 80);
    const [fast, slow] = [painted, slowPicture].map((draw) => draw(scene, width, height, ratio)) as [
      Uint32Array,
      Uint32Array,
    ];
    const at = fast.findIndex((pixel, k) => pixel !== slow[k]);
    assert.equal(at, -1, `round ${round}: pixel ${at % width}, ${Math.floor(at / width)} differs`);
  }
});

test("no cell is lost, and none is shown twice where it is narrower than a pixel", () => {
  const random = seeded(18);
  for (let round = 0; round < 200; round++) {
    const inner = Array.from({ length: whole(random, 0, 60) }, () => between(random, 0, 100)).sort(
      (a, b) => a - b,
    );
    const edges = Float64Array.from([0, ...inner, 100]);
    const width = whole(random, 1, 40);
    const [first, last] = [new Int32Array(width), new Int32Array(width)];
    columnsOf(edges, { from: 0, to: 100 }, width, first, last);
    const shown = new Array(edges.length - 1).fill(0);
    for (let x = 0; x < width; x++) for (let cell = first[x]!; cell <= last[x]!; cell++) shown[cell]++;
    shown.forEach((times, cell) => {
      assert.ok(times >= 1, `cell ${cell} of ${edges} in ${width} px`);
      const pixels = ((edges[cell + 1]! - edges[cell]!) / 100) * width;
      assert.ok(times <= Math.floor(pixels) + 2, `${times} times, ${pixels} px wide`);
    });
  }
});

test("a window and bins that agree map one to one, also between the pixels", () => {
  const random = seeded(13);
  for (let round = 0; round < 200; round++) {
    const from = between(random, 0, 1e6);
    const to = from + between(random, 10, 1e6);
    const width = whole(random, 2, 2000);
    // numpy.linspace, as the server makes them
    const edges = Float64Array.from({ length: width + 1 }, (_, k) =>
      k === width ? to : from + k * ((to - from) / width),
    );
    const [first, last] = [new Int32Array(width), new Int32Array(width)];
    columnsOf(edges, { from, to }, width, first, last);
    for (let x = 0; x < width; x++)
      assert.ok(first[x] === x && last[x] === x, `${x} of ${width}: ${first[x]}`);
  }
});

test("every mark is at least 3 px wide, marks never become values, and NaN gives way to nothing", () => {
  const random = seeded(14);
  for (let round = 0; round < 500; round++) {
    const line = randomCodes(random, whole(random, 4, 60));
    const before = line.slice();
    const least = pick(random, [3, 4.5, 6]);
    widen(line, new Uint16Array(line.length), least);
    line.forEach((code, x) => {
      if (before[x]! >= SCALE_SIZE) assert.ok(code >= before[x]!);
      if (before[x] === MARK.NAN) assert.equal(code, MARK.NAN);
      if (before[x] === MARK.NOTHING || before[x] === MARK.UNREAD) assert.equal(code, before[x]);
    });
    let run = 0;
    let blocked = false; // by the end of the run of data, which marks do not cross
    for (let x = 0; x <= line.length; x++) {
      if (line[x] === MARK.NAN) {
        run++;
        continue;
      }
      blocked ||= x < line.length && (line[x] === MARK.NOTHING || line[x] === MARK.UNREAD);
      const start = x - run - 1;
      const beside = start < 0 || line[start] === MARK.NOTHING || line[start] === MARK.UNREAD;
      if (run && !blocked && !beside && x < line.length)
        assert.ok(run >= Math.ceil(least), `${run} of ${least}`);
      run = 0;
      blocked = false;
    }
  }
});

test("one NaN sample among 100,000 is seen at every width", () => {
  const cells = 100_000;
  const codes = new Uint16Array(cells).fill(256);
  codes[77_777] = MARK.NAN;
  const source: Coded = {
    codes,
    cells,
    edges: Float64Array.from({ length: cells + 1 }, (_, k) => k),
    strata: Int32Array.of(0, 0, 0, 0),
  };
  for (const [width, ratio] of [
    [40, 1],
    [852, 1],
    [1704, 2],
    [3000, 3],
  ] as const) {
    const scene: Scene = {
      span: { from: 0, to: cells },
      sources: [source],
      bands: [{ node: 0, y: 0, h: 1 }],
      scroll: 0,
      ink: INK,
      reach: REACH,
      outside: MARK.NOTHING,
    };
    const pixels = painted(scene, width, 1, ratio);
    const marked = [...pixels].filter((pixel) => INK.nan.includes(pixel)).length;
    assert.ok(marked >= 3 * ratio, `${marked} px at ${width}`);
  }
});

test("the marks differ by pattern, not by colour alone", () => {
  const pattern = (mark: number) => {
    const inks: number[] = [];
    for (let y = 0; y < 12; y++) for (let x = 0; x < 12; x++) inks.push(markPixel(INK, mark, x, y));
    const kinds = [...new Set(inks)];
    return inks.map((ink) => kinds.indexOf(ink)).join("");
  };
  const patterns = [MARK.NAN, MARK.INF, MARK.MISSING, MARK.NOTHING].map(pattern);
  assert.equal(new Set(patterns).size, 4);
});

/** A leaf, and a folded node with these cells in its largest, median and smallest stratum. */
function folded(largest: number[], median: number[], smallest: number[]): Coded {
  const width = largest.length;
  return pictureCodes(
    {
      nodes: [
        { path: "a", leaf: true, leaves: 1, folded_to_fit: false },
        { path: "b", leaf: false, leaves: 3, folded_to_fit: false },
      ],
      rows: [
        { node: 0, stratum: "value" },
        { node: 1, stratum: "fold" },
        { node: 1, stratum: "smallest" },
        { node: 1, stratum: "median" },
        { node: 1, stratum: "largest" },
      ],
      edges: Float64Array.from({ length: width + 1 }, (_, k) => k),
    },
    Uint16Array.from([...new Array(2 * width).fill(0), ...smallest, ...median, ...largest]),
    REACH,
  );
}

const rowOf = ({ codes, cells, strata }: Coded, node: number, slot: number) => {
  const row = strata[node * 4 + slot]!;
  return [...codes.subarray(row * cells, (row + 1) * cells)];
};

test("a folded node is pictured by its three strata, a leaf by its one row", () => {
  const coded = folded([500], [256], [10]);
  assert.deepEqual([...coded.strata], [0, 0, 0, 0, 4, 3, 2, 5]);
  assert.deepEqual(
    [0, 1, 2].map((slot) => rowOf(coded, 1, slot)[0]),
    [500, 256, 10],
  );
});

test("NaN and Inf in any tensor of a folded node take its top stratum", () => {
  const { NAN, INF, MISSING } = MARK;
  const coded = folded(
    [500, 500, INF, MISSING, 500],
    [256, INF, NAN, MISSING, 256],
    [NAN, 10, INF, MISSING, MISSING],
  );
  assert.deepEqual(rowOf(coded, 1, 0), [NAN, INF, NAN, MISSING, 500]);
  assert.deepEqual(rowOf(coded, 1, 1), [256, INF, NAN, MISSING, 256]);
});

test("without height for strata the median stands, or the tensor that lies far from it, or a mark", () => {
  const coded = folded(
    [270, 400, 270, 400, 300, MARK.NAN],
    [256, 256, 256, 256, 256, 256],
    [240, 240, 100, 60, MARK.MISSING, 9],
  );
  assert.deepEqual(rowOf(coded, 1, 3), [256, 400, 100, 60, 256, MARK.NAN]);
});

test("a folded row of 15 px has strata of 27, 46 and 27 %", () => {
  const source: Coded = {
    codes: Uint16Array.of(500, 256, 10),
    cells: 1,
    edges: Float64Array.of(0, 1),
    strata: Int32Array.of(0, 1, 2, 1),
  };
  const pixels = painted(
    {
      span: { from: 0, to: 1 },
      sources: [source],
      bands: [{ node: 0, y: 0, h: 15 }],
      scroll: 0,
      ink: INK,
      reach: REACH,
      outside: MARK.NOTHING,
    },
    1,
    15,
    1,
  );
  const heights = [500, 256, 10].map((code) => pixels.filter((pixel) => pixel === INK.scale[code]).length);
  assert.deepEqual(heights, [4, 7, 4]);
});
