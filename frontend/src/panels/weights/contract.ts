/** The answers of our routes, as docs/http.md describes them; binary ones are checked and unpacked here. */

import { type Columns, column } from "../../base/columns.ts";

export type RunState = "live" | "ended" | "waiting" | "reading";

export interface RunSummary {
  readonly name: string;
  readonly state: RunState;
  readonly nan: boolean;
  /** Whether it holds tables of ours, not only other writers' scalars. */
  readonly tables: boolean;
  readonly last_step: number | null;
  /** In seconds since the epoch. */
  readonly last_wall: number | null;
  readonly error: string | null;
  /** Rises with everything that is read of it, within one server. */
  readonly generation: number;
  /** Tags by sort of what other writers left. */
  readonly holds: Readonly<Record<string, number>>;
}

export interface Oddity {
  /** Null: of the log directory itself. */
  readonly run: string | null;
  readonly file: string | null;
  readonly offset: number | null;
  readonly text: string;
  readonly wall: number | null;
}

export interface Progress {
  readonly files: number;
  readonly files_total: number;
  readonly bytes: number;
  readonly bytes_total: number;
  readonly bytes_per_second: number | null;
  readonly seconds_left: number | null;
  readonly done: boolean;
}

export interface Found {
  readonly runs: number;
  readonly files: number;
  readonly bytes: number;
  readonly unreadable: number;
  readonly scalar_tags: number;
  readonly histogram_tags: number;
  readonly other_tags: number;
}

export interface RunsAnswer {
  readonly server: string;
  readonly generation: number;
  readonly logdir: string;
  /** Why nothing at all can be read, where that is so. */
  readonly problem: string | null;
  readonly progress: Progress;
  readonly found: Found;
  readonly looks_again_s: number;
  readonly runs: readonly RunSummary[];
  readonly oddities: readonly Oddity[];
}

export interface ColumnInfo {
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly scale: "linear" | "log";
  readonly healthy: number | null;
}

export interface RowInfo {
  readonly name: string;
  readonly class: string;
  readonly module: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly trainable: boolean;
}

/** One stretch of writing of a chain; its number is its place in `sessions`. */
export interface SessionInfo {
  readonly id: string | null;
  readonly start_step: number;
  /** In seconds since the epoch. */
  readonly wall: number;
  readonly continues: string | null;
  /** Of its own samples, those that a later session overwrote among them. */
  readonly first: number;
  readonly last: number;
  /** What later sessions recorded again. */
  readonly overwritten: { readonly from: number; readonly to: number; readonly samples: number } | null;
  /** Where its counter began again: what would have to be added to its steps to lay it behind the session before. */
  readonly offset: number | null;
}

export interface ScopeInfo {
  readonly name: string;
  readonly columns: readonly ColumnInfo[];
  /** In model order. */
  readonly rows: readonly RowInfo[];
  /** Class by module path. */
  readonly modules: Readonly<Record<string, string>>;
  readonly steps: { readonly first: number; readonly last: number; readonly count: number };
  /** Where the cell of the last sample ends. */
  readonly end: number;
  readonly planned: number | null;
  readonly sessions: readonly SessionInfo[];
  readonly facts: readonly (readonly [string, string])[];
}

/** What other writers left in a run, of one sort. */
export interface CatalogueEntry {
  readonly sort: string;
  readonly tags: number;
  readonly points: number;
  /** Names of some of the tags. */
  readonly examples: readonly string[];
}

export interface RunAnswer {
  readonly run: string;
  readonly generation: number;
  readonly catalogue: readonly CatalogueEntry[];
  readonly scopes: readonly ScopeInfo[];
  /** Of a run of other writers: for each directory that was written in more than one. */
  readonly sessions: readonly (readonly SessionInfo[])[];
}

export interface CellNode {
  readonly path: string;
  readonly leaf: boolean;
  readonly leaves: number;
  readonly folded_to_fit: boolean;
}

export type Stratum = "value" | "fold" | "smallest" | "median" | "largest";

export interface Distribution {
  /** Exponents of ten where the column's scale is log, plain values otherwise. */
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
  readonly zeros: number;
  readonly nan: number;
  readonly pinf: number;
  readonly ninf: number;
  readonly missing: number;
}

/** As wide as the largest count of the answer needs. */
export type Counts = Uint32Array | Uint16Array | Uint8Array;

/** Rows x cells. Arrays are [rows, cells], row by row. */
export interface Cells {
  readonly run: string;
  readonly scope: string;
  readonly column: string;
  readonly scale: "linear" | "log";
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  readonly last: number;
  readonly nodes: readonly CellNode[];
  /** Of the row of each node and stratum; NaN where a node has none. */
  readonly rows: readonly { readonly node: number; readonly stratum: Stratum }[];
  readonly distribution: Distribution;
  readonly quantiles: {
    readonly p1: number | null;
    readonly p50: number | null;
    readonly p99: number | null;
  };
  readonly samples: number;
  /** [cells + 1] steps. */
  readonly edges: Float64Array;
  readonly mean: Float32Array;
  readonly min: Float32Array;
  readonly max: Float32Array;
  readonly count: Counts;
  readonly zeros: Counts;
  readonly nan: Counts;
  readonly pinf: Counts;
  readonly ninf: Counts;
  readonly missing: Counts;
  readonly status: Uint8Array;
}

export function parseCells(columns: Columns): Cells {
  const counts = (name: string) => column<Counts>(columns, name, Uint32Array, Uint16Array, Uint8Array);
  return {
    ...(columns.header as unknown as Cells),
    edges: column(columns, "edges", Float64Array),
    mean: column(columns, "mean", Float32Array),
    min: column(columns, "min", Float32Array),
    max: column(columns, "max", Float32Array),
    count: counts("count"),
    zeros: counts("zeros"),
    nan: counts("nan"),
    pinf: counts("pinf"),
    ninf: counts("ninf"),
    missing: counts("missing"),
    status: column(columns, "status", Uint8Array),
  };
}

export interface Steps {
  /** Of every sample, rising. */
  readonly steps: Float64Array;
  /** Number of the session that recorded it. */
  readonly session: Uint32Array;
}

export function parseSteps(columns: Columns): Steps {
  return { steps: column(columns, "steps", Float64Array), session: column(columns, "session", Uint32Array) };
}

/** Numbers travel as JSON numbers, and as words where JSON has none; null is not recorded. */
export type WireNumber = number | "NaN" | "Infinity" | "-Infinity" | null;

/** `undefined` where nothing was recorded. */
export function parseNumber(value: WireNumber | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export interface AtAnswer {
  readonly step: number;
  readonly values: readonly WireNumber[];
  readonly status: readonly number[];
}

export interface SampleAnswer {
  readonly step: number;
  readonly next_step: number | null;
  readonly values: Readonly<Record<string, WireNumber>>;
  readonly status: number;
}
