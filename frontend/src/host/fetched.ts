/** Fetches by key: one question out at a time, the newest key wins, the old answer stays until the new one is here. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";

export interface Fetched<T> {
  /** The last answer and the key it answers; it is stale where that is no longer the key. */
  readonly answer: ReadonlySignal<{ readonly key: string; readonly value: T } | null>;
  readonly error: ReadonlySignal<{ readonly key: string; readonly error: Error } | null>;
  /** Asks again where the last question failed. */
  retry(): void;
}

/**
 * `key` null asks for nothing and forgets the answer. `related` says whether the answer to an older key may be
 * shown, dimmed, until the one to the newer key is there; an unrelated one is dropped and its question aborted.
 * `outlived` says whether a related question is aborted too, so that the newer one need not wait for its answer.
 */
export function fetched<T>(
  key: ReadonlySignal<string | null>,
  load: (key: string, abort: AbortSignal) => Promise<T>,
  related: (older: string, newer: string) => boolean = () => true,
  outlived: (older: string, newer: string) => boolean = () => false,
): Fetched<T> {
  const answer = signal<{ key: string; value: T } | null>(null);
  const error = signal<{ key: string; error: Error } | null>(null);
  let out: { key: string; abort: AbortController } | null = null;

  async function ask(wanted: string): Promise<void> {
    const question = { key: wanted, abort: new AbortController() };
    out = question;
    try {
      const value = await load(wanted, question.abort.signal);
      if (question.abort.signal.aborted) return;
      answer.value = { key: wanted, value };
      error.value = null;
    } catch (reason) {
      if (question.abort.signal.aborted) return;
      error.value = { key: wanted, error: reason as Error };
    }
    if (out !== question) return;
    out = null;
    const newest = key.peek();
    if (newest !== null && newest !== wanted) void ask(newest);
  }

  effect(() => {
    const wanted = key.value;
    const shown = answer.peek();
    if (shown && (wanted === null || !related(shown.key, wanted))) answer.value = null;
    if (out && (wanted === null || !related(out.key, wanted) || outlived(out.key, wanted))) {
      out.abort.abort();
      out = null;
    }
    const failed = error.peek();
    if (failed && (wanted === null || !related(failed.key, wanted))) error.value = null;
    if (wanted !== null && !out && answer.peek()?.key !== wanted) void ask(wanted);
  });

  return {
    answer,
    error,
    retry() {
      const wanted = key.peek();
      if (wanted !== null && !out && error.peek()) void ask(wanted);
    },
  };
}
