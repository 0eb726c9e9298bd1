/** Passes values on at a pace: the first at once, then the newest of those that came meanwhile. */

/** `gap_ms` is asked after each value how long to keep the next. */
export function paced<T>(pass: (value: T) => void, gap_ms: () => number): (value: T) => void {
  let waiting: { readonly value: T } | null = null;
  let resting = false;

  function next(): void {
    const kept = waiting;
    waiting = null;
    resting = kept !== null;
    if (!kept) return;
    pass(kept.value);
    setTimeout(next, gap_ms());
  }

  return (value) => {
    waiting = { value };
    if (!resting) next();
  };
}
