/** The step cursor at the foot of every tab: its transport, where it stands, and what of the run is recorded. */

import type { ComponentChildren } from "preact";
import { whole } from "../base/numbers.ts";
import type { Span } from "../base/span.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Popover } from "./popover.tsx";

export interface CursorBarProps {
  /** Null: nothing is recorded, and nothing works. */
  readonly step: number | null;
  readonly first: number;
  readonly last: number;
  /** Where the run is meant to end; null where nobody said. */
  readonly planned: number | null;
  /** Stretches in which nothing was recorded. */
  readonly holes: readonly Span[];
  /** The window of the picture; null where it is the whole run. */
  readonly view: Span | null;
  readonly live: boolean;
  readonly playing: boolean;
  readonly speed: number;
  /** What the button of the speed opens. */
  speeds(close: () => void): ComponentChildren;
  onMove(step: number): void;
  onFirst(): void;
  onPrevious(): void;
  onPlay(): void;
  onNext(): void;
  onLast(): void;
  onHelp(): void;
}

export function CursorBar(props: CursorBarProps) {
  const { step, first, planned, last } = props;
  const end = Math.max(planned ?? last, last, first + 1);
  const off = step === null;
  const at = (value: number) =>
    `${(Math.min(1, Math.max(0, (value - first) / (end - first))) * 100).toFixed(3)}%`;
  const extent = (span: Span) => ({ left: at(span.from), width: `calc(${at(span.to)} - ${at(span.from)})` });

  const drag = (event: PointerEvent) => {
    const track = event.currentTarget as HTMLElement;
    const box = track.getBoundingClientRect();
    const move = (x: number) => props.onMove(first + ((x - box.left) / box.width) * (end - first));
    track.setPointerCapture(event.pointerId);
    track.onpointermove = (moved) => move(moved.clientX);
    track.onpointerup = track.onpointercancel = () => {
      track.onpointermove = null;
    };
    move(event.clientX);
  };

  const button = (name: IconName, title: string, act: () => void, more = "") => (
    <button
      type="button"
      class={more}
      title={title}
      aria-label={title}
      disabled={off}
      data-testid={`cursor-${name === "pause" ? "play" : name}`}
      onClick={act}
    >
      <Icon name={name} />
    </button>
  );
  return (
    <footer class={off ? "cursorbar off" : "cursorbar"} data-testid="cursor-bar">
      <div class="transport">
        {button("first", "First sample (Home)", props.onFirst, "wide")}
        {button("previous", "Sample before (←)", props.onPrevious)}
        {props.playing
          ? button("pause", "Stop (Space)", props.onPlay, "main")
          : button("play", "Play (Space)", props.onPlay, "main")}
        {button("next", "Sample after (→)", props.onNext)}
        {button("last", "Last sample (End)", props.onLast, "wide")}
      </div>
      <div class="now" data-testid="cursor-step">
        {off ? (
          "no recorded steps"
        ) : (
          <>
            step <b>{whole(step)}</b> of {whole(planned ?? last)}
          </>
        )}
      </div>
      <div
        class="track"
        role="slider"
        tabIndex={off ? -1 : 0}
        aria-label="Step cursor"
        aria-disabled={off}
        aria-valuemin={first}
        aria-valuemax={end}
        aria-valuenow={step ?? first}
        aria-valuetext={off ? "no recorded steps" : `step ${whole(step)}`}
        data-testid="cursor-track"
        onPointerDown={off ? undefined : drag}
      >
        <div class="rail" />
        {!off && (
          <>
            <div class="done" style={{ width: at(last) }} />
            {props.holes.map((hole) => (
              <div key={hole.from} class="hole" style={extent(hole)} />
            ))}
            {props.view && <div class="view" style={extent(props.view)} />}
            {props.live && <div class="edge" style={{ left: at(last) }} />}
            <div class="knob" style={{ left: at(step) }} />
          </>
        )}
      </div>
      <div class="wide">
        <Popover
          kind="menu"
          testId="cursor-speed"
          side="right"
          up
          label={
            <>
              <span class="quiet">Speed</span> <span class="num">{props.speed}×</span>
              <span class="caret" />
            </>
          }
        >
          {props.speeds}
        </Popover>
      </div>
      <button
        type="button"
        class="ctl bare square quiet wide"
        title="Keys (?)"
        aria-label="Keys"
        data-testid="help"
        onClick={props.onHelp}
      >
        ?
      </button>
    </footer>
  );
}
