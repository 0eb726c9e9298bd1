/** The names of rows as a tree that the keyboard can walk, and the values at the cursor. */

import { useComputed } from "@preact/signals";
import { median } from "../../base/sorted.ts";
import { Triangle } from "../../widgets/icons.tsx";
import { withNumbers } from "../../widgets/with-numbers.tsx";
import { useApp } from "./app-context.ts";
import { parseNumber } from "./contract.ts";
import type { Label } from "./labels.ts";
import { NAME_PX } from "./layout.ts";
import { formatValue } from "./statistics.ts";

export function Names() {
  const { names, picture, actions, pointer } = useApp();
  const geo = picture.geometry.value;
  const placed = names.value;
  if (!geo || !placed) return null;
  const focusable = placed.labels.find((label) => label.path === pointer.selected.value) ?? placed.labels[0];

  const keys = (event: KeyboardEvent) => {
    const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=treeitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const label = placed.labels[at];
    if (!label) return;
    const walk = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: items.length - 1 }[event.key];
    if (walk !== undefined) items[Math.min(items.length - 1, Math.max(0, walk))]?.focus();
    else if (event.key === "Enter" && label.folded !== undefined) actions.toggleFold(label.path);
    else if (event.key === "ArrowLeft" && label.folded === false) actions.toggleFold(label.path);
    else if (event.key === "ArrowRight" && label.folded === true) actions.toggleFold(label.path);
    else if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="names"
      role="tree"
      tabIndex={-1}
      aria-label="Modules and tensors"
      style={{ width: `${geo.x}px` }}
      data-testid="names"
      onKeyDown={keys}
    >
      {placed.brackets.map((bracket) => (
        <i
          key={`${bracket.x} ${bracket.y}`}
          class="bracket"
          style={{ left: `${bracket.x}px`, top: `${bracket.y}px`, height: `${bracket.h}px` }}
        />
      ))}
      {placed.labels.map((label) => (
        <Name
          key={label.path}
          label={label}
          focusable={label === focusable}
          onFold={actions.toggleFold}
          onFocus={(path) => {
            pointer.selected.value = path;
          }}
        />
      ))}
    </div>
  );
}

interface NameProps {
  readonly label: Label;
  readonly focusable: boolean;
  onFold(path: string): void;
  onFocus(path: string): void;
}

function Name({ label, focusable, onFold, onFocus }: NameProps) {
  const { folded } = label;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it handles its keys
    <div
      class={`label level${label.level}${folded === undefined ? "" : " foldable"}`}
      role="treeitem"
      aria-level={label.level}
      aria-label={label.path}
      {...(folded !== undefined && { "aria-expanded": !folded })}
      tabIndex={focusable ? 0 : -1}
      title={label.detail ? `${label.path}, ${label.detail}` : label.path}
      data-testid="name"
      data-path={label.path}
      style={{
        left: `${label.x}px`,
        top: `${label.y}px`,
        width: `${label.w}px`,
        height: `${NAME_PX}px`,
      }}
      onClick={folded === undefined ? undefined : () => onFold(label.path)}
      onFocus={(event) => {
        // A click folds; only the keyboard chooses.
        if (event.currentTarget.matches(":focus-visible")) onFocus(label.path);
      }}
    >
      {folded !== undefined ? <Triangle open={!folded} /> : label.indented && <i class="space" />}
      <span class="text">{label.text}</span>
      {label.detail && <span class="detail">{label.detail}</span>}
      {label.right && <span class="right">{withNumbers(label.right)}</span>}
    </div>
  );
}

/** The median of each named unit at the cursor; NaN in its colour, since an average would hide it. */
export function Values() {
  const { picture, pointer, model } = useApp();
  const texts = useComputed(() => {
    const [layout, column, at] = [
      picture.layout.value,
      model.column.value,
      pointer.atCursor.answer.value?.value,
    ];
    const rows = model.scope.value?.rows ?? [];
    if (!layout || !column || !at) return [];
    const index = new Map(rows.map((row, k) => [row.name, k]));
    const values = at.values.map(parseNumber);
    const text = (of: readonly (number | undefined)[]): string => {
      const known = of.filter((value): value is number => value !== undefined);
      if (known.some(Number.isNaN)) return "NaN";
      const infinite = known.find((value) => !Number.isFinite(value));
      if (infinite !== undefined) return infinite > 0 ? "+Inf" : "−Inf";
      return known.length ? formatValue(column, median(known)) : "";
    };
    const found: { y: number; text: string }[] = [];
    let free = Number.NEGATIVE_INFINITY;
    const add = (y: number, of: readonly (number | undefined)[]) => {
      if (y < free) return;
      free = y + NAME_PX;
      found.push({ y, text: text(of) });
    };
    for (const unit of layout.units) {
      if (unit.named && !unit.branch?.tensor)
        for (let k = unit.first; k < unit.end; k++) {
          const band = layout.bands[k]!;
          const row = index.get(picture.nodes.value[band.node]!.path);
          if (row !== undefined) add(band.y + Math.round((band.h - NAME_PX) / 2), [values[row]]);
        }
      else if (unit.branch && unit.h >= NAME_PX - 1)
        add(unit.y + Math.round(unit.h / 2) - NAME_PX / 2, values.slice(unit.branch.from, unit.branch.to));
    }
    return found;
  });
  const geo = picture.geometry.value;
  if (!geo?.values) return null;
  return (
    <div
      class="values"
      style={{ left: `${geo.x + geo.w}px`, width: `${geo.values - 6}px` }}
      data-testid="values"
    >
      {texts.value.map(({ y, text }) => (
        <span key={y} class={/NaN|Inf/.test(text) ? "num nan" : "num"} style={{ top: `${y}px` }}>
          {text}
        </span>
      ))}
    </div>
  );
}
