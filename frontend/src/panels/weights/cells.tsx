/** The scrolling part of the picture: names, cells on canvas, values. The one owner of the drawing frame. */

import { effect, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "./app-context.ts";
import { Names, Values } from "./names.tsx";
import { createRaster, paint, type Raster } from "./paint.ts";
import { signalPaint } from "./signs.ts";

/** A stale answer is dimmed only when it stays stale: while zooming, answers come faster than this. */
const STALE_MS = 250;

export function Rows() {
  const { picture } = useApp();
  const box = useRef<HTMLDivElement>(null);
  const geo = picture.geometry.value;
  const layout = picture.layout.value;
  const height = Math.min(layout?.height ?? 0, geo?.h ?? 0);

  useSignalEffect(() => {
    const wanted = picture.scroll.value;
    if (box.current && Math.abs(box.current.scrollTop - wanted) >= 1) box.current.scrollTop = wanted;
  });
  useLayoutEffect(() => {
    // A lower layout cannot scroll as far; a higher one can go where a zoom of the rows wants it.
    if (!box.current) return;
    box.current.scrollTop = picture.scroll.peek();
    picture.scroll.value = box.current.scrollTop;
  }, [layout, height]);

  if (!geo || !layout) return null;
  return (
    <div
      class="rows"
      ref={box}
      style={{ top: `${geo.y}px`, height: `${height}px` }}
      data-testid="rows"
      onScroll={() => {
        picture.scroll.value = box.current!.scrollTop;
      }}
    >
      <div style={{ height: `${layout.height}px` }}>
        <Canvas height={height} />
        <Names />
        <Values />
      </div>
    </div>
  );
}

function Canvas({ height }: { height: number }) {
  const { picture, model, interactive } = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  const geo = picture.geometry.value!;
  const tall = useRef(height);
  tall.current = height;

  useEffect(() => {
    let frame = 0;
    let raster: Raster | null = null;
    let image: ImageData | null = null;
    const draw = () => {
      frame = 0;
      const [scene, now] = [picture.scene.peek(), picture.geometry.peek()];
      const c = canvas.current;
      if (!scene || !now || !c) return;
      const [w, h] = [Math.round(now.w * now.ratio), Math.round(tall.current * now.ratio)];
      if (w < 1 || h < 1) return signalPaint(picture, interactive.peek()); // no row matches the filter
      if (!raster || !image || raster.width !== w || raster.height !== h || raster.ratio !== now.ratio) {
        c.width = w;
        c.height = h;
        image = new ImageData(w, h);
        raster = createRaster(w, h, now.ratio, new Uint32Array(image.data.buffer));
      }
      paint(raster, scene);
      c.getContext("2d", { alpha: false })!.putImageData(image, 0, 0);
      signalPaint(picture, interactive.peek());
    };
    const stop = effect(() => {
      void [picture.scene.value, picture.geometry.value, picture.layout.value, interactive.value];
      if (!frame) frame = requestAnimationFrame(draw);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);

  useSignalEffect(() => {
    const stale = picture.stale.value || model.away.value !== null;
    const timer = setTimeout(() => canvas.current?.classList.toggle("stale", stale), stale ? STALE_MS : 0);
    return () => clearTimeout(timer);
  });

  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={`${model.column.value?.label ?? ""} of every tensor at every recorded step`}
      data-testid="cells"
      style={{ marginLeft: `${geo.x}px`, width: `${geo.w}px`, height: `${height}px` }}
    />
  );
}
