/** What is pointed at: hair lines or the outline of the row, its name, and the read-out. */

import { ReadOut } from "../../widgets/read-out.tsx";
import { useApp } from "./app-context.ts";
import { AXIS_PX } from "./geometry.ts";
import { readCell } from "./read.ts";
import { relative } from "./tree.ts";

export function Cross() {
  const { picture, model, pointer } = useApp();
  const [geo, layout, place] = [picture.geometry.value, picture.layout.value, pointer.place.value];
  const [column, scope, axis, ink] = [
    model.column.value,
    model.scope.value,
    picture.axis.value,
    picture.ink.value,
  ];
  if (!geo || !layout || !place || !column || !scope || !axis || !ink) return null;
  const height = Math.min(layout.height, geo.h);
  const y = place.y - picture.scroll.value;
  if (y < 0 || y > height) return null;
  const node = place.cells.nodes[place.node];
  if (!node) return null;
  const band = layout.bands[place.band]!;
  const byKeyboard = !pointer.hover.value;
  const branch = model.tree.value.owner(node.path);
  const content = readCell({
    ...place,
    column,
    columns: scope.columns,
    rows: scope.rows,
    axis,
    ink,
    sample: pointer.sample.answer.value?.value ?? null,
    at: pointer.atPlace.answer.value?.value ?? null,
  });
  const name = branch && branch.path !== node.path ? relative(node.path, branch.path) : node.path;
  return (
    <>
      {byKeyboard ? (
        <div
          class="chosen"
          style={{
            left: `${geo.x - 2}px`,
            top: `${geo.y + band.y - picture.scroll.value - 2}px`,
            width: `${geo.w + 4}px`,
            height: `${band.h + 4}px`,
          }}
        />
      ) : (
        <>
          <div
            class="hair down"
            style={{
              transform: `translateX(${geo.x + Math.round(place.x)}px)`,
              top: `${geo.y}px`,
              height: `${height}px`,
            }}
          />
          <div
            class="hair across"
            style={{
              transform: `translateY(${geo.y + Math.floor(y)}px)`,
              left: `${geo.x}px`,
              width: `${geo.w}px`,
            }}
          />
        </>
      )}
      <span
        class="pill hover row"
        style={{ transform: `translate(calc(${geo.x - 4}px - 100%), ${Math.round(geo.y + y - 8)}px)` }}
        data-testid="hover-row"
      >
        {name}
      </span>
      <ReadOut
        {...content}
        x={geo.x + Math.round(place.x)}
        y={geo.y + Math.floor(y)}
        right={geo.x + geo.w + geo.values}
        bottom={geo.y + height + AXIS_PX}
      />
    </>
  );
}
