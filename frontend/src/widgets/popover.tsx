/** A button and what it opens; closes on Esc, on a click outside and when focus leaves. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  /** Content of the button. */
  readonly label: ComponentChildren;
  /** Its accessible name, where the label has no words. */
  readonly title?: string;
  readonly testId: string;
  readonly kind: "menu" | "dialog";
  readonly bare?: boolean;
  readonly icon?: boolean;
  /** The side of the button that what opens is aligned with. */
  readonly side?: "left" | "right";
  readonly up?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Popover({ label, title, testId, kind, bare, icon, side = "left", up, children }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };

  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [open]);

  return (
    <div
      class="popover"
      role="group"
      ref={root}
      onKeyDown={(event) => {
        if (!open) return;
        event.stopPropagation(); // what is open has the keys to itself
        if (event.key === "Escape") close();
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next && !root.current?.contains(next)) setOpen(false);
      }}
    >
      <button
        type="button"
        class={`ctl${bare ? " bare" : ""}${icon ? " square" : ""}`}
        aria-haspopup={kind}
        aria-expanded={open}
        data-testid={testId}
        {...(title && { title, "aria-label": title })}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && <div class={`panel ${side}${up ? " up" : ""}`}>{children(close)}</div>}
    </div>
  );
}
