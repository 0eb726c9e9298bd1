/** Follows TensorBoard's dark mode: it marks the body of its page, and our frame's media query knows only the system's. */

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Theme } from "../base/colour.ts";
import { withParent } from "./parent.ts";

const current = signal<Theme>("light");

export const theme: ReadonlySignal<Theme> = current;

/** Keeps `theme` and the class `dark` of our root element right from now on. */
export function followTheme(): void {
  const set = (dark: boolean) => {
    document.documentElement.classList.toggle("dark", dark);
    current.value = dark ? "dark" : "light";
  };
  const observed = withParent((page) => {
    const body = page.document.body;
    const look = () => set(body.classList.contains("dark-mode"));
    new MutationObserver(look).observe(body, { attributes: true, attributeFilter: ["class"] });
    look();
    return true;
  }, false);
  if (observed) return;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => set(system.matches));
  set(system.matches);
}
