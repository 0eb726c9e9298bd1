/** Pointer and wheel on the picture: hover, click, drag, shift-drag, double click, zoom. */

import { panSpan, type Span, width } from "../../base/span.ts";
import { stepAt } from "./actions.ts";
import type { App } from "./app-context.ts";
import { bandAt } from "./layout.ts";

/** A press that moves less is a click. */
const CLICK_PX = 4;
const WHEEL_ZOOM = 0.0016;
/** Of wheel travel for one px more or less a row. */
const WHEEL_ROW_PX = 40;
const LINE_PX = 16;

interface Drag {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly span: Span;
  readonly scroll: number;
  readonly marks: boolean;
  moved: boolean;
}

/** Returns what takes the listeners off again. */
export function attachGestures(box: HTMLElement, app: App): () => void {
  const { picture, actions, pointer, marked } = app;
  let drag: Drag | null = null;
  let travel = 0;

  /** In px of the cells; null beside them and over controls. */
  function inCells(event: MouseEvent): { x: number; y: number } | null {
    const [geo, layout] = [picture.geometry.peek(), picture.layout.peek()];
    const other = (event.target as Element).closest("button, input, [role=treeitem], .panel");
    if (!geo || !layout || other) return null;
    const edge = box.getBoundingClientRect();
    const x = event.clientX - edge.left - geo.x;
    const y = event.clientY - edge.top - geo.y;
    return x >= 0 && x < geo.w && y >= 0 && y < Math.min(layout.height, geo.h) ? { x, y } : null;
  }

  function down(event: PointerEvent): void {
    const at = inCells(event);
    const view = picture.view.peek();
    if (!at || !view || event.button !== 0) return;
    window.focus(); // the keys go to whatever frame has it
    box.setPointerCapture(event.pointerId);
    (document.activeElement as HTMLElement | null)?.blur?.();
    pointer.selected.value = null;
    drag = {
      id: event.pointerId,
      ...at,
      span: view,
      scroll: picture.scroll.peek(),
      marks: event.shiftKey,
      moved: false,
    };
  }

  function move(event: PointerEvent): void {
    const geo = picture.geometry.peek();
    if (!geo) return;
    if (!drag) {
      const at = inCells(event);
      pointer.hover.value = at && { x: at.x, y: at.y + picture.scroll.peek() };
      return;
    }
    const edge = box.getBoundingClientRect();
    const x = Math.min(geo.w, Math.max(0, event.clientX - edge.left - geo.x));
    const y = event.clientY - edge.top - geo.y;
    const free = event.clientX - edge.left - geo.x;
    if (!drag.moved && Math.hypot(free - drag.x, y - drag.y) < CLICK_PX) return;
    drag.moved = true;
    pointer.hover.value = null;
    if (drag.marks) {
      marked.value = { a: drag.x, b: x };
      return;
    }
    const bounds = picture.bounds.peek();
    const steps = ((drag.x - free) / geo.w) * width(drag.span);
    if (bounds && width(drag.span) < width(bounds)) actions.show(panSpan(drag.span, steps, bounds));
    picture.scroll.value = Math.max(0, drag.scroll + drag.y - y);
  }

  function up(event: PointerEvent): void {
    if (!drag) return;
    const done = drag;
    drag = null;
    box.releasePointerCapture(event.pointerId);
    const chosen = marked.peek();
    marked.value = null;
    if (event.type === "pointercancel") return;
    if (!done.moved) {
      const step = stepAt(picture, done.x);
      if (step !== null) actions.moveTo(step);
    } else if (chosen) {
      const [from, to] = [Math.min(chosen.a, chosen.b), Math.max(chosen.a, chosen.b)].map((x) =>
        stepAt(picture, x),
      );
      if (typeof from === "number" && typeof to === "number" && to > from) actions.show({ from, to });
    }
  }

  function leave(): void {
    pointer.hover.value = null;
  }

  function wheel(event: WheelEvent): void {
    const [geo, view] = [picture.geometry.peek(), picture.view.peek()];
    if (!geo || !view || (event.target as Element).closest(".panel")) return;
    const edge = box.getBoundingClientRect();
    const x = event.clientX - edge.left - geo.x;
    if (event.clientY - edge.top < geo.y) return;
    event.preventDefault();
    const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [across, along] = [event.deltaX * scale, event.deltaY * scale];
    if (x < 0) {
      travel += along;
      const rows = Math.trunc(travel / WHEEL_ROW_PX);
      travel -= rows * WHEEL_ROW_PX;
      if (rows) growRows(app, -rows, event.clientY - edge.top - geo.y);
    } else if (Math.abs(across) > Math.abs(along)) {
      actions.pan((across / geo.w) * width(view));
    } else {
      const step = stepAt(picture, Math.min(x, geo.w));
      if (step !== null) actions.zoomSteps(Math.exp(along * WHEEL_ZOOM), step);
    }
  }

  function double(event: MouseEvent): void {
    if (inCells(event)) actions.reset();
  }

  const listeners: [string, (event: never) => void][] = [
    ["pointerdown", down],
    ["pointermove", move],
    ["pointerup", up],
    ["pointercancel", up],
    ["pointerleave", leave],
    ["wheel", wheel],
    ["dblclick", double],
  ];
  for (const [type, listener] of listeners)
    box.addEventListener(type, listener as EventListener, type === "wheel" ? { passive: false } : undefined);
  return () => {
    for (const [type, listener] of listeners) box.removeEventListener(type, listener as EventListener);
  };
}

/** Higher or lower rows, with the row at `y` px of the cells staying where it is. */
export function growRows(app: App, by: number, y: number): void {
  const { picture, actions } = app;
  const before = picture.layout.peek();
  const scroll = picture.scroll.peek();
  const band = before ? bandAt(before, y + scroll) : -1;
  actions.growRows(by);
  const after = picture.layout.peek();
  const [was, is] = [before?.bands[band], after?.bands[band]];
  if (!was || !is || was.node !== is.node) return;
  picture.scroll.value = Math.max(0, is.y + ((y + scroll - was.y) / Math.max(1, was.h)) * is.h - y);
}
