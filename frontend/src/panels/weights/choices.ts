/** What the user chose to see, and how a link writes it down. */

import type { Span } from "../../base/span.ts";
import type { Limits } from "./limits.ts";

export interface Choices {
  readonly run: string | null;
  /** Null: the first of the run. */
  readonly scope: string | null;
  readonly statistic: string;
  /** Null: the whole run, also as it grows. */
  readonly window: Span | null;
  readonly follow: boolean;
  /** Null: robust ones. */
  readonly limits: Limits | null;
  /** The limits were robust ones when follow latest was turned off, and stay until it is on again. */
  readonly held: boolean;
  /** Paths of modules. */
  readonly folds: ReadonlySet<string>;
  readonly filter: string;
  /** Height of a row in px; null: as many px as fit. */
  readonly row: number | null;
  /** Null: the last step, also as the run grows. */
  readonly step: number | null;
  /** The run as it stood before the session after this one began; null: as it stands. */
  readonly until: number | null;
  /** Sessions whose counter began at 0 again lie one behind the other. */
  readonly shift: boolean;
}

export const DEFAULTS: Choices = {
  run: null,
  scope: null,
  statistic: "update_ratio",
  window: null,
  follow: true,
  limits: null,
  held: false,
  folds: new Set(),
  filter: "",
  row: null,
  step: null,
  until: null,
  shift: false,
};

/** Every key a link can hold; empty where the choice is the default. */
export function toLink(choices: Choices): Record<string, string> {
  const { window, limits } = choices;
  return {
    run: choices.run ?? "",
    scope: choices.scope ?? "",
    statistic: choices.statistic === DEFAULTS.statistic ? "" : choices.statistic,
    window: window ? `${steps(window.from)}..${steps(window.to)}` : "",
    follow: choices.follow ? "" : "off",
    limits: limits ? `${choices.held ? "held:" : ""}${value(limits.low)}..${value(limits.high)}` : "",
    folds: [...choices.folds].map(encodeURIComponent).join(","),
    filter: choices.filter,
    row: choices.row === null ? "" : String(choices.row),
    step: choices.step === null ? "" : String(choices.step),
    until: choices.until === null ? "" : String(choices.until),
    shift: choices.shift ? "1" : "",
  };
}

/** As exact as anyone could see. */
const steps = (step: number): number => Number(step.toFixed(3));
const value = (limit: number): number => Number(limit.toPrecision(6));

/** What cannot be understood, since a link may be cut or typed, is left at its default. */
export function fromLink(values: Readonly<Record<string, string>>): Choices {
  const limits = range(values.limits?.replace("held:", ""));
  const window = range(values.window);
  const row = number(values.row);
  const until = number(values.until);
  return {
    run: values.run || null,
    scope: values.scope || null,
    statistic: values.statistic || DEFAULTS.statistic,
    window: window && { from: window[0], to: window[1] },
    follow: values.follow !== "off",
    limits: limits && { low: limits[0], high: limits[1] },
    held: limits !== null && values.limits!.startsWith("held:"),
    folds: new Set((values.folds ?? "").split(",").filter(Boolean).map(decoded)),
    filter: values.filter ?? "",
    row: row === null || row < 1 ? null : Math.round(row),
    step: number(values.step),
    until: until !== null && until >= 0 ? Math.floor(until) : null,
    shift: values.shift === "1",
  };
}

/** `a..b` of two rising numbers. */
function range(text: string | undefined): [number, number] | null {
  const [a, b] = (text ?? "").split("..").map((part) => number(part));
  return typeof a === "number" && typeof b === "number" && a < b ? [a, b] : null;
}

function number(text: string | undefined): number | null {
  const value = text?.trim() ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
