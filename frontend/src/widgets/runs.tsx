/** The run picker: runs by folder, one of them chosen, each with its state as glyph and word. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { plural, whole } from "../base/numbers.ts";
import { Filter } from "./filter.tsx";
import { Icon, Triangle } from "./icons.tsx";

export type Glyph = "live" | "ended" | "nan" | "waiting" | "reading" | "error";

export interface PickerRun {
  readonly name: string;
  readonly glyph: Glyph;
  readonly word: string;
  /** At the right edge: its last step. */
  readonly right: string;
}

interface Props {
  readonly runs: readonly PickerRun[];
  readonly chosen: string | null;
  /** Over the list, beside their number. */
  readonly note: string;
  /** Under the list. */
  readonly children?: ComponentChildren;
  onChoose(name: string): void;
  onFold(): void;
}

export function RunPicker({ runs, chosen, note, onChoose, onFold, children }: Props) {
  const [text, setText] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLDivElement>(null);
  const pattern = compiled(text);
  const matching = pattern ? runs.filter((run) => pattern.test(run.name)) : runs;
  const folders = byFolder(matching);
  const toggle = (folder: string) => {
    const next = new Set(closed);
    if (!next.delete(folder)) next.add(folder);
    setClosed(next);
  };

  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by || (event.target as HTMLElement).role !== "radio") return;
    event.preventDefault();
    event.stopPropagation();
    const radios = [...list.current!.querySelectorAll<HTMLElement>("[role=radio]")];
    const at = radios.indexOf(document.activeElement as HTMLElement);
    const next = radios[(at + by + radios.length) % radios.length];
    next?.focus();
    if (next?.dataset.run !== undefined) onChoose(next.dataset.run);
  };
  const focusable = matching.some((run) => run.name === chosen) ? chosen : matching[0]?.name;

  return (
    <aside class="runs" aria-label="Runs" data-testid="run-picker">
      <div class="head">
        <Filter
          icon="search"
          label="Filter runs (regex)"
          value={text}
          valid={!text || pattern !== null}
          testId="run-filter"
          onChange={setText}
        />
        <button
          type="button"
          class="ctl bare square"
          title="Fold the run list"
          aria-label="Fold the run list"
          data-testid="fold-runs"
          onClick={onFold}
        >
          <Icon name="side" />
        </button>
      </div>
      <div class="sum">
        <span>
          {pattern
            ? `${whole(matching.length)} of ${plural(runs.length, "run")}`
            : plural(runs.length, "run")}
        </span>
        <span>{note}</span>
      </div>
      <div class="list" role="radiogroup" aria-label="Run shown" tabIndex={-1} ref={list} onKeyDown={move}>
        {folders.map(([folder, members]) => (
          <>
            {folder && (
              <button
                key={`${folder}/`}
                type="button"
                class="group"
                aria-expanded={!closed.has(folder)}
                title={folder}
                onClick={() => toggle(folder)}
              >
                <Triangle open={!closed.has(folder)} />
                <span class="name">{folder}</span>
                <span class="num">
                  {members.some((run) => run.name === chosen) ? `1 of ${members.length}` : members.length}
                </span>
              </button>
            )}
            {!closed.has(folder) &&
              members.map((run) => (
                <Run
                  key={run.name}
                  run={run}
                  label={folder ? run.name.slice(folder.length + 1) : run.name}
                  indented={folder !== ""}
                  chosen={run.name === chosen}
                  focusable={run.name === focusable}
                  onChoose={onChoose}
                />
              ))}
          </>
        ))}
        {text && !matching.length && <p class="quiet none">No run matches.</p>}
      </div>
      {children}
    </aside>
  );
}

interface RunProps {
  readonly run: PickerRun;
  readonly label: string;
  readonly indented: boolean;
  readonly chosen: boolean;
  readonly focusable: boolean;
  onChoose(name: string): void;
}

export function Run({ run, label, indented, chosen, focusable, onChoose }: RunProps) {
  return (
    <button
      type="button"
      role="radio"
      aria-checked={chosen}
      class={`run${chosen ? " on" : ""}${indented ? " in" : ""}`}
      tabIndex={focusable ? 0 : -1}
      title={run.name}
      data-testid="run"
      data-run={run.name}
      data-state={run.word}
      onClick={(event) => {
        onChoose(run.name);
        if (event.detail) event.currentTarget.blur(); // a pointer's: the arrow keys are the picture's again
      }}
    >
      <i class="radio" aria-hidden="true" />
      <span class="name">{label}</span>
      <span class="state">
        <i class={`glyph ${run.glyph}`} aria-hidden="true" />
        {run.word}
      </span>
      <span class="num">{run.right}</span>
    </button>
  );
}

/** Runs under the folder they lie in, folders in the order of their first run; those in none come first. */
export function byFolder(runs: readonly PickerRun[]): (readonly [string, readonly PickerRun[]])[] {
  const folders = new Map<string, PickerRun[]>();
  for (const run of runs) {
    const folder = run.name.slice(0, Math.max(0, run.name.lastIndexOf("/")));
    const members = folders.get(folder);
    if (members) members.push(run);
    else folders.set(folder, [run]);
  }
  return [...folders].sort(([a], [b]) => Number(a !== "") - Number(b !== ""));
}

function compiled(text: string): RegExp | null {
  try {
    return text ? new RegExp(text) : null;
  } catch {
    return null;
  }
}
