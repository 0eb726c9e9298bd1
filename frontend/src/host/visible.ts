/** Tells whether anyone can see us: TensorBoard folds the frame of a hidden tab to no height and says nothing. */

import { type ReadonlySignal, signal } from "@preact/signals";

const current = signal(false);

export const visible: ReadonlySignal<boolean> = current;

export function followVisibility(): void {
  const look = () => {
    current.value = window.innerHeight > 0 && document.visibilityState === "visible";
  };
  new ResizeObserver(look).observe(document.documentElement);
  window.addEventListener("resize", look);
  document.addEventListener("visibilitychange", look);
  look();
}
