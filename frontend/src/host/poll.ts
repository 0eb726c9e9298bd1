/** Repeats a question at a pace: steady while there is news, slower while there is none or no answer at all. */

export type Outcome = "news" | "same" | "failed";

export interface Pace {
  /** While things change. */
  readonly steady_ms: number;
  /** The slowest, for a log that nobody writes any more. */
  readonly idle_ms: number;
  /** The slowest, for a server that does not answer. */
  readonly away_ms: number;
}

/** Milliseconds until the next question, after `times` outcomes of this kind in a row. */
export function delay(outcome: Outcome, times: number, pace: Pace): number {
  switch (outcome) {
    case "news":
      return pace.steady_ms;
    case "same": // ten tries at full pace first: a recording interval is longer than ours
      return Math.min(
        Math.max(pace.idle_ms, pace.steady_ms),
        pace.steady_ms * 1.25 ** Math.max(0, times - 10),
      );
    case "failed":
      return Math.min(pace.away_ms, pace.steady_ms * 2 ** Math.min(times - 1, 20));
  }
}

export interface Poll {
  /** Asks at once, and goes on from there. */
  now(): void;
  /** Asks no more until `now`. */
  pause(): void;
  /** When the next question is due, in ms of `Date.now`; undefined while one is out or none is due. */
  due(): number | undefined;
}

export function poll(ask: () => Promise<Outcome>, pace: () => Pace): Poll {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: number | undefined;
  let last: Outcome = "news";
  let times = 0;
  let asking = false;
  let active = false;

  async function run(): Promise<void> {
    if (asking) return;
    asking = true;
    next = undefined;
    const outcome = await ask();
    asking = false;
    times = outcome === last ? times + 1 : 1;
    last = outcome;
    if (!active) return;
    const wait = delay(outcome, times, pace());
    next = Date.now() + wait;
    timer = setTimeout(run, wait);
  }

  return {
    now() {
      active = true;
      clearTimeout(timer);
      times = 0;
      void run();
    },
    pause() {
      active = false;
      next = undefined;
      clearTimeout(timer);
    },
    due: () => next,
  };
}
