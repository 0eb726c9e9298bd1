/** Moves the step cursor over the samples by itself. */

import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { visible } from "../../host/visible.ts";
import type { Actions } from "./actions.ts";
import type { Model } from "./model.ts";

export interface Player {
  readonly playing: ReadonlySignal<boolean>;
  readonly speed: Signal<number>;
  toggle(): void;
  stop(): void;
}

export const SPEEDS = [0.5, 1, 2, 4, 8] as const;
/** At speed 1. */
const SAMPLES_PER_SECOND = 10;

export function createPlayer(model: Model, actions: Actions): Player {
  const playing = signal(false);
  const speed = signal(1);
  const atEnd = () => {
    const steps = model.steps.answer.peek()?.value.steps;
    return !steps?.length || (model.cursor.peek() ?? 0) >= steps[steps.length - 1]!;
  };

  effect(() => {
    if (!playing.value || !visible.value) return;
    const period = 1000 / SAMPLES_PER_SECOND / speed.value;
    let due = performance.now() + period;
    let frame = requestAnimationFrame(function tick(now) {
      if (now >= due) {
        const samples = 1 + Math.floor((now - due) / period);
        due += samples * period;
        actions.moveBy(samples);
        if (atEnd()) playing.value = false;
      }
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  });

  return {
    playing,
    speed,
    toggle() {
      if (!playing.peek() && atEnd()) {
        const first = model.steps.answer.peek()?.value.steps[0];
        if (first === undefined) return;
        actions.moveTo(first); // from the end, play is from the beginning
      }
      playing.value = !playing.peek();
    },
    stop() {
      playing.value = false;
    },
  };
}
