/** Spells the questions to our routes. What follows a `#` never leaves the browser: it makes a key new. */

import type { Span } from "../../base/span.ts";

/** Of docs/http.md: what one answer may hold, and its longest side. */
const MOST_CELLS = 4e6;
const MOST_SIDE = 8192;

/** Which of the run's sessions count, and where they lie. */
export interface History {
  /** Number of the last session that counts; null: all. */
  readonly until: number | null;
  /** Those that began at 0 again lie behind the ones before them. */
  readonly shift: boolean;
}

export interface Subject {
  readonly history: History;
  readonly run: string;
  readonly scope: string;
  readonly column: string;
}

export interface CellsQuestion extends Subject {
  readonly span: Span | null;
  /** Cells wanted in time. */
  readonly width: number;
  /** Most nodes wanted. */
  readonly height: number;
  /** Of the model, were nothing folded. */
  readonly rows: number;
  /** Paths of modules. */
  readonly folds: readonly string[];
}

export const runPath = (run: string, history: History): string => `run?${query({ run, ...told(history) })}`;

export const stepsPath = (run: string, scope: string, history: History): string =>
  `steps?${query({ run, scope, ...told(history) })}`;

export const atPath = ({ history, ...subject }: Subject, step: number): string =>
  `at?${query({ ...subject, ...told(history), step: String(step) })}`;

export const samplePath = ({ run, scope, history }: Subject, row: string, step: number): string =>
  `sample?${query({ run, scope, ...told(history), row, step: String(step) })}`;

export function cellsPath(question: CellsQuestion): string {
  const { run, scope, column, span, history } = question;
  const { width, height } = withinLimits(question);
  return `cells?${query({
    run,
    scope,
    column,
    ...told(history),
    ...(span && { from: String(Math.floor(span.from)), to: String(Math.ceil(span.to)) }),
    width: String(width),
    height: String(height),
    ...(question.folds.length && { fold: question.folds.map(encodeURIComponent).join(",") }),
  })}`;
}

/**
 * Cells wide and nodes high, so that the answer stays within what the server gives. An unfolded node is one row of
 * cells, a folded one four. Nodes that may not fold to fit cost width instead.
 */
export function withinLimits(question: Pick<CellsQuestion, "width" | "height" | "rows" | "folds">): {
  width: number;
  height: number;
} {
  const side = (length: number) => Math.max(1, Math.min(MOST_SIDE, Math.floor(length)));
  const unfolded = question.rows + 3 * question.folds.length;
  if (question.height >= question.rows) {
    return { width: side(Math.min(question.width, MOST_CELLS / unfolded)), height: side(question.height) };
  }
  const width = side(question.width);
  return { width, height: side(Math.min(question.height, MOST_CELLS / (4 * width))) };
}

/**
 * Whether the user went on to another question before the older one was answered. One that only follows a growing
 * log waits: its like come faster than answers might.
 */
export function outlived(older: string, newer: string): boolean {
  const [[question, state], [other, now]] = [older.split("#"), newer.split("#")];
  return question !== other && state === now;
}

/**
 * Adds to the questions of one view which view it is and how many it asked, so that the server ends its work on an
 * older one when a newer one comes.
 */
export function numbered(): (key: string) => string {
  const view = Math.random().toString(36).slice(2);
  let n = 0;
  return (key) => `${key.split("#")[0]}&view=${view}&n=${++n}`;
}

/** Whether two keys ask about the same run, scope and statistic, so that one answer may stand in for the other. */
export function sameSubject(a: string, b: string): boolean {
  return agree(a, b, "run", "scope", "column");
}

/** And of the same sessions in the same places, so that both answers hold the same values at the same steps. */
export function samePast(a: string, b: string): boolean {
  return sameSubject(a, b) && agree(a, b, "until", "shift");
}

function agree(a: string, b: string, ...names: string[]): boolean {
  const [first, second] = [parameters(a), parameters(b)];
  return names.every((name) => first.get(name) === second.get(name));
}

function told({ until, shift }: History): Record<string, string> {
  return { ...(until !== null && { until: String(until) }), ...(shift && { shift: "1" }) };
}

function parameters(key: string): URLSearchParams {
  return new URLSearchParams(key.split("#")[0]!.split("?")[1]);
}

function query(values: Record<string, string>): string {
  return new URLSearchParams(values).toString();
}
