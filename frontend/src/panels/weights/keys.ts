/** Carries out what the keys of `keymap.ts` mean. */

import type { App } from "./app-context.ts";
import { growRows } from "./gestures.ts";
import { type Command, commandOf } from "./keymap.ts";

const ZOOM = 1.5;

/** Returns what takes the listener off again. */
export function attachKeys(app: App): () => void {
  const press = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (target.closest("input, textarea, select, dialog")) return;
    if (event.key === " " && target.closest("button, [role=treeitem]")) return; // it presses what has the focus
    const command = commandOf(event);
    if (!command) return;
    event.preventDefault();
    run(app, command);
  };
  document.addEventListener("keydown", press);
  return () => document.removeEventListener("keydown", press);
}

function run(app: App, command: Command): void {
  const { actions, pointer, player } = app;
  switch (command.do) {
    case "step":
      player.stop();
      actions.moveBy(command.samples);
      break;
    case "first":
    case "last":
      player.stop();
      actions.moveTo(command.do === "first" ? -Infinity : Infinity);
      break;
    case "play":
      player.toggle();
      break;
    case "row":
      moveRow(app, command.by);
      break;
    case "zoom-steps":
      zoomSteps(app, command.by);
      break;
    case "zoom-rows":
      growRows(app, command.by, 0);
      break;
    case "reset":
      actions.reset();
      break;
    case "close":
      player.stop();
      pointer.selected.value = null;
      pointer.hover.value = null;
      if (app.picture.slim.peek()) app.sidebar.value = false;
      (document.activeElement as HTMLElement | null)?.blur();
      break;
    case "filter":
      document.querySelector<HTMLInputElement>("[data-testid=row-filter]")?.focus();
      break;
    case "help":
      app.help.value = true;
  }
}

/** About the cursor, or the middle where the cursor is out of view. */
function zoomSteps({ model, picture, actions }: App, by: 1 | -1): void {
  const [view, cursor] = [picture.view.peek(), model.cursor.peek()];
  if (!view) return;
  const inside = cursor !== null && cursor >= view.from && cursor <= view.to;
  actions.zoomSteps(by > 0 ? 1 / ZOOM : ZOOM, inside ? cursor : (view.from + view.to) / 2);
}

/** The row below or above the chosen one, scrolled into view; without one the first in view. */
function moveRow({ picture, pointer }: App, by: 1 | -1): void {
  const [layout, geo, nodes] = [picture.layout.peek(), picture.geometry.peek(), picture.nodes.peek()];
  if (!layout?.bands.length || !geo) return;
  const path = pointer.selected.peek();
  const now = path === null ? -1 : layout.bands.findIndex(({ node }) => nodes[node]!.path === path);
  const first = layout.bands.findIndex((band) => band.y >= picture.scroll.peek());
  const next = now < 0 ? Math.max(0, first) : Math.min(layout.bands.length - 1, Math.max(0, now + by));
  const band = layout.bands[next]!;
  pointer.hover.value = null;
  pointer.selected.value = nodes[band.node]!.path;
  const high = Math.min(layout.height, geo.h);
  const scroll = picture.scroll.peek();
  if (band.y < scroll) picture.scroll.value = band.y;
  else if (band.y + band.h > scroll + high) picture.scroll.value = band.y + band.h - high;
}
