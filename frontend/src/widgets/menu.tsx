/** A list of choices that a button opens: one of several, or things to do. Arrows, Home and End move, Enter picks. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";

export interface MenuItem {
  readonly id: string;
  readonly label: string;
  /** Beside the label, quiet. */
  readonly hint?: string;
  /** Undefined: something to do; else whether it is the chosen one. */
  readonly checked?: boolean;
  /** A heading above it. */
  readonly heading?: string;
}

interface Props {
  readonly title: string;
  readonly items: readonly MenuItem[];
  onPick(id: string): void;
}

export function Menu({ title, items, onPick }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const buttons = () => [...list.current!.querySelectorAll("button")];
  // Before the next key can come, which is for the menu.
  useLayoutEffect(() => {
    const all = buttons();
    (all.find((button) => button.getAttribute("aria-checked") === "true") ?? all[0])?.focus();
  }, []);
  const move = (event: KeyboardEvent) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all[(to + all.length) % all.length]?.focus();
  };
  return (
    <div class="menu" role="menu" aria-label={title} ref={list} onKeyDown={move}>
      {items.map((item) => (
        <>
          {item.heading && <div class="heading">{item.heading}</div>}
          <button
            key={item.id}
            type="button"
            role={item.checked === undefined ? "menuitem" : "menuitemradio"}
            {...(item.checked !== undefined && { "aria-checked": item.checked })}
            tabIndex={-1}
            data-value={item.id}
            onClick={() => onPick(item.id)}
          >
            {item.checked !== undefined && <span class="tick">{item.checked && <Icon name="check" />}</span>}
            <span>{item.label}</span>
            {item.hint && <span class="quiet hint">{item.hint}</span>}
          </button>
        </>
      ))}
    </div>
  );
}
