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
  /** Asks again, but not within `gap_ms` of the last answer. */
  soon(gap_ms: number): void;
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
  let answered = Number.NEGATIVE_INFINITY;
  /** Set while a question is out that may have been answered before what `soon` is about. */
  let hurry = Number.POSITIVE_INFINITY;

  function schedule(at: number): void {
    clearTimeout(timer);
    next = at;
    timer = setTimeout(run, Math.max(0, at - Date.now()));
  }

  async function run(): Promise<void> {
    if (asking) return;
    asking = true;
    next = undefined;
    const outcome = await ask();
    asking = false;
    answered = Date.now();
    times = outcome === last ? times + 1 : 1;
    last = outcome;
    if (!active) return;
    const wait = delay(outcome, times, pace());
    schedule(answered + (outcome === "failed" ? wait : Math.min(wait, hurry)));
    hurry = Number.POSITIVE_INFINITY;
  }

  return {
    now() {
      active = true;
      clearTimeout(timer);
      times = 0;
      void run();
    },
    soon(gap_ms) {
      if (asking) hurry = Math.min(hurry, gap_ms);
      else if (active && answered + gap_ms < (next ?? Infinity)) schedule(answered + gap_ms);
    },
    pause() {
      active = false;
      next = undefined;
      hurry = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
    due: () => next,
  };
}
