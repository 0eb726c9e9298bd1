/** The colour scale under the distribution of what it colours, and beside it the marks with their counts. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { css } from "../base/colour.ts";

export interface LegendTick {
  /** 0 at the left end, 1 at the right one. */
  readonly at: number;
  readonly text: string;
  readonly align: "left" | "middle" | "right";
}

export interface LegendKey {
  readonly id: string;
  readonly text: string;
  readonly count?: string;
  readonly unit?: string;
  /** The packed pixel of its swatch at (x, y). */
  readonly pixel: (x: number, y: number) => number;
}

interface Props {
  /** Where the bar begins, in px, and its width. */
  readonly x: number;
  readonly width: number;
  readonly ratio: number;
  readonly table: Uint32Array;
  /** Height of each 4 px bin, 0 to 1. */
  readonly heights: readonly number[];
  readonly ticks: readonly LegendTick[];
  readonly words: readonly [string, string];
  /** Above the words at the left end; absent where there is no room. */
  readonly caption?: string;
  /** Where on the bar the hovered value lies. */
  readonly hover: number | null;
  /** The healthy value's place on the bar. */
  readonly centre: number | null;
  readonly keys: readonly LegendKey[];
  readonly ink: string;
}

export const BIN_PX = 4;
const HISTOGRAM_PX = 26;
const BAR_PX = 10;
const GAP_PX = 2;

export function Legend(props: Props) {
  const { x, width, ratio, table, heights, ink } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = HISTOGRAM_PX + GAP_PX + BAR_PX;
  useLayoutEffect(() => {
    const c = canvas.current!;
    c.width = Math.round(width * ratio);
    c.height = Math.round(height * ratio);
    const g = c.getContext("2d")!;
    g.fillStyle = ink;
    const bin = c.width / heights.length;
    heights.forEach((share, k) => {
      const h = Math.round((share ? Math.max(1, share * HISTOGRAM_PX) : 0) * ratio);
      const left = Math.round(k * bin);
      g.fillRect(left, HISTOGRAM_PX * ratio - h, Math.round((k + 1) * bin) - left - Math.round(ratio), h);
    });
    for (let i = 0; i < c.width; i++) {
      g.fillStyle = css(table[Math.floor((i / c.width) * table.length)]!);
      g.fillRect(i, (HISTOGRAM_PX + GAP_PX) * ratio, 1, BAR_PX * ratio);
    }
  }, [width, ratio, table, heights, ink]);

  const bar = HISTOGRAM_PX + GAP_PX;
  const place = (at: number) => Math.round(Math.min(1, Math.max(0, at)) * (width - 1));
  return (
    <div class="legend" data-testid="legend">
      <div class="scale" style={{ left: `${x}px`, width: `${width}px` }}>
        <canvas
          ref={canvas}
          style={{ width: `${width}px`, height: `${height}px` }}
          role="img"
          aria-label="Distribution of the values"
        />
        {props.caption && <span class="caption">{props.caption}</span>}
        <span class="low">{props.words[0]}</span>
        <span class="high">{props.words[1]}</span>
        {props.ticks.map((tick) => (
          <span key={tick.text} class={`tick ${tick.align}`} style={{ left: `${place(tick.at)}px` }}>
            {tick.text}
          </span>
        ))}
        {props.centre !== null && (
          <i class="centre" style={{ left: `${place(props.centre)}px`, top: `${bar}px` }} />
        )}
        {props.hover !== null && (
          <i class="hovered" style={{ left: `${place(props.hover)}px` }} data-testid="legend-hover" />
        )}
      </div>
      {props.keys.length > 0 && (
        <ul class="keys">
          {props.keys.map((key) => (
            <li key={key.id} data-testid={`legend-${key.id}`}>
              <Swatch pixel={key.pixel} />
              {key.text}
              {key.count !== undefined && <span class="num">{key.count}</span>}
              {key.unit}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const SWATCH = [18, 10] as const;

function Swatch({ pixel }: { pixel: LegendKey["pixel"] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const g = canvas.current!.getContext("2d")!;
    const image = g.createImageData(...SWATCH);
    const pixels = new Uint32Array(image.data.buffer);
    for (let k = 0; k < pixels.length; k++) pixels[k] = pixel(k % SWATCH[0], Math.floor(k / SWATCH[0]));
    g.putImageData(image, 0, 0);
  }, [pixel]);
  return <canvas ref={canvas} class="swatch" width={SWATCH[0]} height={SWATCH[1]} />;
}
