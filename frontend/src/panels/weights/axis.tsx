/** The step axis under the cells, and what stands over both: cursor, marked steps, what is pointed at. */

import { whole } from "../../base/numbers.ts";
import { toPixel } from "../../base/span.ts";
import { stepTicks } from "../../base/ticks.ts";
import { useApp } from "./app-context.ts";
import { AXIS_PX, HEAD_PX } from "./geometry.ts";

/** Half the width of a pill and a tick, which must not touch. */
const APART_PX = 52;

export function Axis() {
  const { picture, model, pointer } = useApp();
  const geo = picture.geometry.value;
  const view = picture.view.value;
  const layout = picture.layout.value;
  if (!geo || !view || !layout) return null;
  const height = Math.min(layout.height, geo.h);
  const x = (step: number) => toPixel(step, view, geo.w);
  const place = pointer.hover.value ? pointer.place.value : null;
  const cursor = model.cursor.value;
  const pills = [cursor === null ? null : x(cursor), place?.x ?? null];
  const inFrame = (px: number) => Math.round(Math.min(px, geo.w + (geo.values || 16) - APART_PX / 2));
  const isFree = (px: number) => pills.every((pill) => pill === null || Math.abs(pill - px) > APART_PX);
  return (
    <div
      class="axis"
      style={{
        left: `${geo.x}px`,
        top: `${geo.y + height + 2}px`,
        width: `${geo.w}px`,
        height: `${AXIS_PX}px`,
      }}
      data-testid="axis"
    >
      {isFree(-APART_PX / 2) && <span class="what">step</span>}
      {stepTicks(view, geo.w).map((step) => {
        const px = x(step);
        const align = px < 20 ? "left" : px > geo.w - 24 ? "right" : "middle";
        return (
          <span
            key={step}
            class={`tick ${align}`}
            style={{ left: `${Math.min(geo.w - 1, Math.round(px))}px` }}
          >
            <i />
            {isFree(px) && <span class="num">{whole(step)}</span>}
          </span>
        );
      })}
      {cursor !== null && inView(x(cursor), geo.w) && (
        <span class="pill cursor" style={{ left: `${inFrame(x(cursor))}px` }} data-testid="cursor-pill">
          {whole(cursor)}
        </span>
      )}
      {place && (
        <span class="pill hover" style={{ left: `${inFrame(place.x)}px` }} data-testid="hover-step">
          {whole(place.step)}
        </span>
      )}
    </div>
  );
}

export function Overlay() {
  const { picture, model, marked, aside } = useApp();
  const Cross = aside.value?.Cross;
  const geo = picture.geometry.value;
  const view = picture.view.value;
  const layout = picture.layout.value;
  if (!geo || !view || !layout) return null;
  const height = Math.min(layout.height, geo.h);
  const cursor = model.cursor.value;
  const px = cursor === null ? -1 : toPixel(cursor, view, geo.w);
  const chosen = marked.value;
  return (
    <div class="overlay">
      {chosen && (
        <div
          class="marked"
          style={{
            left: `${geo.x + Math.min(chosen.a, chosen.b)}px`,
            top: `${geo.y}px`,
            width: `${Math.abs(chosen.b - chosen.a)}px`,
            height: `${height}px`,
          }}
        />
      )}
      {inView(px, geo.w) && (
        <div
          class="cursorline"
          style={{
            transform: `translateX(${Math.round(geo.x + px)}px)`,
            top: `${HEAD_PX + 16}px`,
            height: `${geo.y + height + 6 - HEAD_PX - 16}px`,
          }}
          data-testid="cursor-line"
        />
      )}
      <div role="status">{Cross && <Cross />}</div>
    </div>
  );
}

const inView = (px: number, width: number): boolean => px >= 0 && px <= width;
