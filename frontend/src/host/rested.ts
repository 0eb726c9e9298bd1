/** Follows a signal once it has rested, for questions that a moving pointer should not ask. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";

/** `null` is followed at once. */
export function rested<T>(source: ReadonlySignal<T | null>, rest_ms: number): ReadonlySignal<T | null> {
  const follower = signal<T | null>(source.peek());
  effect(() => {
    const value = source.value;
    if (value === null) {
      follower.value = null;
      return;
    }
    const timer = setTimeout(() => {
      follower.value = value;
    }, rest_ms);
    return () => clearTimeout(timer);
  });
  return follower;
}
