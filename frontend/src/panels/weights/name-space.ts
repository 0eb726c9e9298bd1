/** Measures names in the face they are written in, and places them. */

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { type Names, nameColumns, placeNames } from "./labels.ts";
import type { Model } from "./model.ts";
import type { Picture } from "./picture.ts";

export function createNames(model: Model, picture: Picture): ReadonlySignal<Names | null> {
  const pen = document.createElement("canvas").getContext("2d")!;
  const fonts = signal(0);
  document.fonts.addEventListener("loadingdone", () => fonts.value++);
  const measure = (text: string) => {
    pen.font = `500 11px ${getComputedStyle(document.documentElement).getPropertyValue("--font")}`;
    return pen.measureText(text).width;
  };
  const edge = computed(() => picture.geometry.value?.x ?? 0);
  const space = computed(() => {
    void fonts.value;
    return nameColumns(model.tree.value, edge.value, measure, picture.slim.value);
  });
  return computed(() =>
    picture.layout.value
      ? placeNames(picture.layout.value, picture.nodes.value, model.rows.value, space.value)
      : null,
  );
}
