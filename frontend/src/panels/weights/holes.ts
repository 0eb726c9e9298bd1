/** Finds the stretches between the sessions of a run, in which nothing was recorded. */

import type { Span } from "../../base/span.ts";
import type { Steps } from "./contract.ts";

/** From the last sample of a session to the first of the next. */
export function holesOf(steps: Steps | undefined): Span[] {
  const holes: Span[] = [];
  for (let k = 1; k < (steps?.steps.length ?? 0); k++)
    if (steps!.session[k] !== steps!.session[k - 1])
      holes.push({ from: steps!.steps[k - 1]!, to: steps!.steps[k]! });
  return holes;
}
