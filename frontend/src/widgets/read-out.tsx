/** What stands under the pointer, on the side of it that has room. It never covers the pointer. */

import { useLayoutEffect, useRef } from "preact/hooks";

export interface ReadOutLine {
  readonly label: string;
  readonly value: string;
  /** CSS colour of the chip before the value. */
  readonly chip?: string;
  readonly tone?: "nan";
}

export interface ReadOutContent {
  readonly title: string;
  readonly sub: string;
  readonly lines: readonly ReadOutLine[];
}

interface Props extends ReadOutContent {
  /** What it is about, in px of the box that holds it. */
  readonly x: number;
  readonly y: number;
  /** Not over these edges. */
  readonly right: number;
  readonly bottom: number;
}

const AWAY_PX = 14;

export function ReadOut({ title, sub, lines, x, y, right, bottom }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { offsetWidth: w, offsetHeight: h } = box.current!;
    const left = x + AWAY_PX + w <= right ? x + AWAY_PX : Math.max(4, x - AWAY_PX - w);
    const top = y + AWAY_PX + h <= bottom ? y + AWAY_PX : Math.max(4, y - AWAY_PX - h);
    box.current!.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  });
  return (
    <div class="readout" ref={box} data-testid="readout">
      <h2>{title}</h2>
      {sub && <div class="quiet">{sub}</div>}
      <dl>
        {lines.map((line) => (
          <>
            <dt key={line.label}>{line.label}</dt>
            <dd class={line.tone}>
              {line.chip && <i style={{ background: line.chip }} />}
              {line.value}
            </dd>
          </>
        ))}
      </dl>
    </div>
  );
}
