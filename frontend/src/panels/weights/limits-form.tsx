/** Sets the lowest and highest value that the colours span. */

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "./app-context.ts";
import type { ColumnInfo } from "./contract.ts";
import { type Limits, limitsOf } from "./limits.ts";

interface LimitsFormProps {
  readonly column: ColumnInfo;
  close(): void;
}

export function LimitsForm({ column, close }: LimitsFormProps) {
  const { picture, model, actions } = useApp();
  const now = limitsOf(picture.axis.peek()!);
  const low = useSignal(typed(now.low));
  const high = useSignal(typed(now.high));
  const limits = { low: Number(low.value), high: Number(high.value) };
  const valid = low.value.trim() !== "" && high.value.trim() !== "" && validLimits(column, limits);
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.select(), []);
  const field = (label: string, value: typeof low) => (
    <label>
      {label}
      <input
        class="num"
        type="text"
        inputMode="decimal"
        data-testid={`limits-${label.toLowerCase()}`}
        aria-invalid={!valid}
        value={value.value}
        {...(value === low && { ref: first })}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
    </label>
  );
  const rule =
    column.healthy !== null
      ? `The lowest must lie under ${column.healthy}, the healthy value, and the highest above it.`
      : `The lowest must be ${column.scale === "log" ? "above 0 and " : ""}below the highest.`;
  return (
    <form
      class="limits"
      onSubmit={(event) => {
        event.preventDefault();
        if (!valid) return;
        actions.setLimits(limits);
        close();
      }}
    >
      <div class="pair">
        {field("Lowest", low)}
        {field("Highest", high)}
      </div>
      <p class="quiet">{valid ? "Values beyond the limits take the colours of the ends." : rule}</p>
      <div class="pair">
        <button type="submit" class="ctl" disabled={!valid} data-testid="limits-set">
          Set
        </button>
        <button
          type="button"
          class="ctl"
          data-testid="limits-robust"
          aria-pressed={model.choices.value.limits === null}
          onClick={() => {
            actions.setLimits(null);
            close();
          }}
        >
          Robust: 1st to 99th percentile
        </button>
      </div>
    </form>
  );
}

/** Whether limits typed by hand can be drawn. */
export function validLimits(column: ColumnInfo, limits: Limits): boolean {
  const { low, high } = limits;
  if (!Number.isFinite(low) || !Number.isFinite(high) || low >= high) return false;
  if (column.scale === "log" && low <= 0) return false;
  return column.healthy === null || (low < column.healthy && column.healthy < high);
}

/** A limit as one would type it: `1e-5`, `0.02`, `3.16e-6`. */
export function typed(value: number): string {
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(3));
  if (value === 0 || (size >= 0.01 && size < 1e5)) return String(rounded);
  return rounded.toExponential().replace("e+", "e");
}
