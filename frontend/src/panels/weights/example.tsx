/** A pale example of the picture, drawn from invented numbers and marked as such. */

import { useEffect, useRef } from "preact/hooks";
import { SCALE_SIZE } from "../../base/colour.ts";
import { theme } from "../../host/theme.ts";
import { createRaster, paint } from "./paint.ts";
import { palette } from "./palette.ts";
import { STRATA } from "./strata.ts";

const WIDTH = 652;
const HEIGHT = 184;
const CELLS = 326;
/** Tensors of each block, and where a larger gap comes before one. */
const BLOCKS = [3, 10, 9, 9, 12, 9, 9, 9, 12, 9, 9, 9, 9, 9, 12, 9, 9, 2];
const LAYERS = new Set([0, 1, 4, 8, 14, 17]);

export function Example() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const ratio = Math.max(1, window.devicePixelRatio);
    const [w, h] = [Math.round(WIDTH * ratio), Math.round(HEIGHT * ratio)];
    const image = new ImageData(w, h);
    const bands = exampleBands();
    paint(createRaster(w, h, ratio, new Uint32Array(image.data.buffer)), {
      span: { from: 0, to: CELLS },
      sources: [
        {
          codes: exampleCodes(bands.length),
          cells: CELLS,
          edges: Float64Array.from({ length: CELLS + 1 }, (_, k) => k),
          strata: Int32Array.from({ length: bands.length * STRATA }, (_, k) => Math.floor(k / STRATA)),
        },
      ],
      bands,
      scroll: 0,
      ink: palette(theme.value, "diverging"),
      reach: SCALE_SIZE,
      outside: SCALE_SIZE,
    });
    const c = canvas.current!;
    c.width = w;
    c.height = h;
    c.getContext("2d")!.putImageData(image, 0, 0);
  }, [theme.value]);
  return (
    <figure class="example">
      <figcaption>
        <span>What appears here: one row a tensor, blue hardly moves, red moves a lot</span>
        <span>example, not your data</span>
      </figcaption>
      <canvas
        ref={canvas}
        style={{ width: `${WIDTH}px`, height: `${HEIGHT}px` }}
        role="img"
        aria-label="Example of the picture"
      />
    </figure>
  );
}

function exampleBands(): { node: number; y: number; h: number }[] {
  const bands: { node: number; y: number; h: number }[] = [];
  let y = 0;
  BLOCKS.forEach((tensors, block) => {
    if (block) y += LAYERS.has(block) ? 4 : 1;
    for (let k = 0; k < tensors; k++, y++) bands.push({ node: bands.length, y, h: 1 });
  });
  return bands;
}

/** Warm-up, noise that lasts, rows of their own height, and a learning rate that drops at two thirds. */
function exampleCodes(rows: number): Uint16Array {
  const codes = new Uint16Array(rows * CELLS);
  const random = generator(8);
  for (let row = 0; row < rows; row++) {
    const base = -3 + 0.45 * (random() - 0.5) + (random() < 0.08 ? 0.6 : 0);
    let drift = 0;
    let noise = 0;
    for (let x = 0; x < CELLS; x++) {
      const t = x / CELLS;
      drift = 0.99 * drift + 0.05 * (random() - 0.5);
      noise = 0.6 * noise + 0.3 * (random() - 0.5);
      const exponent =
        base +
        drift +
        noise +
        0.9 * Math.exp(-t * 9) +
        Math.log10(Math.min(1, (t + 0.002) * 30)) -
        (t > 0.667 ? 0.75 : 0);
      codes[row * CELLS + x] = Math.min(
        SCALE_SIZE - 1,
        Math.max(0, Math.round(((exponent + 5) / 4) * (SCALE_SIZE - 1))),
      );
    }
  }
  return codes;
}

/** mulberry32: the same picture every time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
