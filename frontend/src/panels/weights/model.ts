/** Which run, scope and statistic is looked at, and what the server says about them. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Fetched, fetched } from "../../host/fetched.ts";
import type { Link } from "../../host/link.ts";
import { paced } from "../../host/paced.ts";
import { runFilter } from "../../host/parent.ts";
import { type Outcome, type Poll, poll } from "../../host/poll.ts";
import { getColumns, getJson, repeated } from "../../host/request.ts";
import { browserMeans, createStream, type Means } from "../../host/stream.ts";
import { type History, runPath, sameSubject, stepsPath } from "./ask.ts";
import { type Choices, fromLink, toLink } from "./choices.ts";
import {
  type ColumnInfo,
  parseSteps,
  type RowInfo,
  type RunAnswer,
  type RunSummary,
  type RunsAnswer,
  type ScopeInfo,
  type Steps,
} from "./contract.ts";
import { buildTree, type Tree } from "./tree.ts";

/** No answer since; `sentence` says what came instead. */
export interface Away {
  readonly sentence: string;
  /** In ms since the epoch. */
  readonly since: number;
}

export interface Model {
  readonly choices: ReadonlySignal<Choices>;
  choose(patch: Partial<Choices>): void;
  readonly runs: ReadonlySignal<RunsAnswer | null>;
  readonly away: ReadonlySignal<Away | null>;
  readonly poll: Poll;
  /** Of the chosen run; null while none is chosen or the server does not know it. */
  readonly summary: ReadonlySignal<RunSummary | null>;
  readonly info: Fetched<RunAnswer>;
  /** Which sessions of the run count, and where they lie. */
  readonly history: ReadonlySignal<History>;
  readonly scope: ReadonlySignal<ScopeInfo | null>;
  /** Null where the run has no rows for the chosen statistic. */
  readonly column: ReadonlySignal<ColumnInfo | null>;
  readonly tree: ReadonlySignal<Tree>;
  readonly rows: ReadonlySignal<ReadonlyMap<string, RowInfo>>;
  readonly steps: Fetched<Steps>;
  /** The step at the cursor, within those of the run. */
  readonly cursor: ReadonlySignal<number | null>;
  /** Rises with every change of what is recorded of this run. */
  readonly generation: ReadonlySignal<number>;
  /** Asks again what failed, whenever the server has answered. */
  keepAsking(...questions: Fetched<unknown>[]): void;
}

const IDLE_MS = 10_000;
/** Least times between two lists of runs, and between two looks at the chosen one, while the stream tells of news. */
const LIST_MS = 1000;
const LOOK_MS = 100;
/** Where answers take long, only one part of the time goes into asking; but no rest is longer than this. */
const PARTS = 4;
const REST_MS = 5000;
const AWAY_MS = 30_000;
const LINK_MS = 200;

export function createModel(link: Link, means: Means | null = browserMeans()): Model {
  const choices = signal<Choices>(fromLink(link.read()));
  const choose = (patch: Partial<Choices>) => {
    choices.value = { ...choices.peek(), ...patch };
  };

  const runs = signal<RunsAnswer | null>(null);
  const away = signal<Away | null>(null);
  const failing: Fetched<unknown>[] = [];
  const ask = repeated<RunsAnswer>("runs");
  let listed_ms = 0;
  const inquiry = poll(
    async (): Promise<Outcome> => {
      const asked = performance.now();
      try {
        const answer = await ask();
        listed_ms = performance.now() - asked;
        if (answer) runs.value = answer;
        away.value = null;
        for (const question of failing) question.retry();
        return answer ? "news" : "same";
      } catch (error) {
        away.value ??= { sentence: (error as Error).message, since: Date.now() };
        return "failed";
      }
    },
    () => {
      // Also where the answer knows of more than the stream: it may be dead without a sign.
      const hears = stream.up.peek() && stream.generation() >= (runs.peek()?.generation ?? 0);
      const steady = hears ? IDLE_MS : (runs.peek()?.looks_again_s ?? 1) * 1000;
      return { steady_ms: steady, idle_ms: IDLE_MS, away_ms: AWAY_MS };
    },
  );

  const told = signal<{ server: string; run: string; generation: number } | null>(null);
  /** The last look, and how long one takes; `generation` is 0 once it is answered. */
  const looked = { at: 0, took_ms: 0, generation: 0 };
  const look = paced(
    (news: { server: string; run: string; generation: number }) => {
      looked.at = performance.now();
      looked.generation = news.generation;
      told.value = news;
    },
    () => restAfter(looked.took_ms, LOOK_MS),
  );
  const stream = createStream(
    "stream",
    {
      hello({ server, generation }) {
        if (server !== runs.peek()?.server || generation !== runs.peek()?.generation) inquiry.soon(0);
      },
      changed(news) {
        const server = runs.peek()?.server;
        const run = choices.peek().run;
        const generation = run === null ? undefined : news.runs[run];
        if (server && run !== null && generation !== undefined) look({ server, run, generation });
        inquiry.soon(summary.peek() ? restAfter(listed_ms, LIST_MS) : 0);
      },
    },
    means,
  );
  const watching = signal(false);
  effect(() => {
    const server = runs.value?.server;
    if (!watching.value) stream.leave();
    else if (server && !runs.peek()?.problem) stream.join(server);
  });
  effect(() => {
    if (!stream.up.value) inquiry.soon(LIST_MS);
  });
  const polling: Poll = {
    ...inquiry,
    now() {
      inquiry.now();
      watching.value = true;
    },
    pause() {
      inquiry.pause();
      watching.value = false;
    },
  };

  const summary = computed(() => runs.value?.runs.find((run) => run.name === choices.value.run) ?? null);
  effect(() => {
    const answer = runs.value;
    if (!answer || choices.peek().run !== null) return;
    const first = firstRun(answer, runFilter());
    if (first !== null) choose({ run: first });
  });

  const until = computed(() => choices.value.until);
  const shift = computed(() => choices.value.shift);
  const history = computed((): History => ({ until: until.value, shift: shift.value }));
  const infoKey = computed(() => {
    const run = summary.value;
    if (!run || run.error || run.state === "waiting") return null;
    const server = runs.value!.server;
    const heard = told.value?.server === server && told.value.run === run.name ? told.value.generation : 0;
    const token = [server, Math.max(heard, run.generation)];
    return `${runPath(run.name, history.value)}#${token.join()}`;
  });
  const info = fetched<RunAnswer>(infoKey, getJson, sameSubject);
  effect(() => {
    const answered = info.answer.value?.value.generation ?? 0;
    if (!looked.generation || answered < looked.generation) return;
    looked.took_ms = performance.now() - looked.at;
    looked.generation = 0;
  });
  const scope = computed(() => {
    const scopes = info.answer.value?.value.scopes ?? [];
    return scopes.find((each) => each.name === choices.value.scope) ?? scopes[0] ?? null;
  });
  const generation = computed(() => info.answer.value?.value.generation ?? 0);
  const column = computed(
    () => scope.value?.columns.find((each) => each.name === choices.value.statistic) ?? null,
  );

  // The same rows are the same tree, however often the run is asked about.
  let grown: { key: string; tree: Tree; rows: ReadonlyMap<string, RowInfo> } | null = null;
  const names = computed(() => {
    const rows = scope.value?.rows ?? [];
    const key = JSON.stringify([rows, scope.value?.modules]);
    if (grown?.key !== key)
      grown = {
        key,
        tree: buildTree(rows, scope.value?.modules ?? {}),
        rows: new Map(rows.map((row) => [row.name, row])),
      };
    return grown;
  });

  const stepsKey = computed(() => {
    const of = info.answer.value?.value.run;
    return of !== undefined && scope.value
      ? `${stepsPath(of, scope.value.name, history.value)}#${runs.value?.server} ${generation.value}`
      : null;
  });
  const steps = fetched<Steps>(
    stepsKey,
    async (key, abort) => parseSteps(await getColumns(key, abort)),
    sameSubject,
  );

  failing.push(info, steps);

  effect(() => {
    const values = toLink(choices.value);
    const timer = setTimeout(() => link.write(values), LINK_MS);
    return () => clearTimeout(timer);
  });

  return {
    choices,
    choose,
    runs,
    away,
    poll: polling,
    summary,
    info,
    history,
    scope,
    column,
    tree: computed(() => names.value.tree),
    rows: computed(() => names.value.rows),
    steps,
    cursor: computed(() => {
      const { step } = choices.value;
      const steps = scope.value?.steps;
      return steps ? Math.min(steps.last, Math.max(steps.first, step ?? steps.last)) : step;
    }),
    generation,
    keepAsking(...questions) {
      failing.push(...questions);
    },
  };
}

function restAfter(took_ms: number, least_ms: number): number {
  return Math.min(REST_MS, Math.max(least_ms, PARTS * took_ms));
}

/** Of the runs that TensorBoard's filter lets through, a live one with tables before any other with tables. */
export function firstRun(answer: RunsAnswer, filter: string): string | null {
  const pattern = patternOf(filter);
  const matching = answer.runs.filter((run) => pattern?.test(run.name));
  const candidates = matching.some((run) => run.tables) ? matching : answer.runs;
  const withTables = candidates.filter((run) => run.tables);
  const live = withTables.find((run) => run.state === "live");
  return (live ?? withTables[0])?.name ?? null;
}

/** The regular expression a user typed; null where there is none or it is not one yet. */
export function patternOf(text: string): RegExp | null {
  if (!text) return null;
  try {
    return new RegExp(text);
  } catch {
    return null;
  }
}
