/** The legend of the picture, and the line between it and the cells. */

import { useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { whole } from "../../base/numbers.ts";
import { isZoomed } from "../../base/span.ts";
import { BIN_PX, Legend } from "../../widgets/legend.tsx";
import { useApp } from "./app-context.ts";
import { HEAD_PX } from "./geometry.ts";
import { barPlace, histogram, legendKeys, legendTicks } from "./legend.ts";
import { fractionAt } from "./limits.ts";
import { definition, endWords } from "./statistics.ts";

/** Of the bar, and of what stands right of it: the word at its end, the marks with their counts. */
const WIDEST_PX = 380;
const LEAST_PX = 160;
const WORDS_PX = 92;
const KEYS_PX = 340;
const BRIEF_KEYS_PX = 258;

export function Scale() {
  const { picture, model, pointer } = useApp();
  const [geo, axis, ink, column] = [
    picture.geometry.value,
    picture.axis.value,
    picture.ink.value,
    model.column.value,
  ];
  const cells = picture.cells.answer.value?.value;
  const reading = model.summary.value?.state === "reading";
  const hover = useComputed(() => {
    const [at, now] = [pointer.place.value, picture.axis.value];
    if (!at || !now) return null;
    const row = at.cells.rows.findIndex(
      ({ node, stratum }) => node === at.node && /value|median/.test(stratum),
    );
    const k = row * (at.cells.edges.length - 1) + at.cell;
    if (at.cells.nan[k]! > 0) return null;
    const max = at.cells.max[k]!;
    return barPlace(now, now.log && max > 0 ? 10 ** at.cells.mean[k]! : now.log ? max : at.cells.mean[k]!);
  });
  const room = geo ? geo.w + geo.values - WORDS_PX : 0;
  const brief = room < WIDEST_PX + KEYS_PX;
  const width = Math.round(Math.max(LEAST_PX, Math.min(WIDEST_PX, room - (brief ? BRIEF_KEYS_PX : KEYS_PX))));
  const bins = Math.floor(width / BIN_PX);
  const heights = useMemo(
    () => (cells && axis && bins ? histogram(cells.distribution, axis, bins) : []),
    [cells, axis, bins],
  );
  const folded = picture.nodes.value.some((node) => !node.leaf);
  const keys = useMemo(
    () => (cells && axis && ink ? legendKeys(cells.distribution, axis, ink, folded, brief) : []),
    [cells, axis, ink, folded, brief],
  );
  if (!geo || !axis || !ink || !column || !cells) return null;
  return (
    <Legend
      x={geo.x}
      width={width}
      ratio={geo.ratio}
      table={ink.scale}
      heights={heights}
      ticks={legendTicks(axis, column, width)}
      words={endWords(column)}
      {...(!geo.slim && { caption: reading ? "distribution so far" : definition(column) })}
      hover={hover.value}
      centre={axis.centre === null ? null : fractionAt(axis, axis.centre)}
      keys={room < LEAST_PX + BRIEF_KEYS_PX || reading ? [] : keys}
      ink={getComputedStyle(document.documentElement).getPropertyValue("--ink-3").trim()}
    />
  );
}

/** How many tensors are in how many rows, and whose values stand at the right edge. */
export function Head() {
  const { picture, model } = useApp();
  const [geo, layout] = [picture.geometry.value, picture.layout.value];
  const scope = model.scope.value;
  if (!geo || !layout || !scope) return null;
  const toFit = picture.nodes.value.some((node) => node.folded_to_fit);
  const [view, bounds] = [picture.view.value, picture.bounds.value];
  const zoomed = view && bounds && isZoomed(view, bounds);
  return (
    <div class="headline" style={{ top: `${HEAD_PX}px` }}>
      <span data-testid="rows-shown">
        <span class="num">{whole(scope.rows.length)}</span> {scope.rows.length === 1 ? "tensor" : "tensors"}{" "}
        in <span class="num">{whole(layout.bands.length)}</span> {layout.bands.length === 1 ? "row" : "rows"}
        {toFit && ", folded to fit"}
        {!layout.bands.length && ": none matches the filter"}
      </span>
      {zoomed && (
        <span class="window" style={{ right: `${geo.values || 16}px` }} data-testid="window">
          steps <span class="num">{whole(Math.ceil(view.from))}</span> to{" "}
          <span class="num">{whole(Math.floor(view.to))}</span>
        </span>
      )}
      {geo.values > 0 && model.cursor.value !== null && <span class="atcursor">at cursor</span>}
    </div>
  );
}
