/** Over the cells: where sessions begin, and which steps were recorded more than once. */

import { useComputed } from "@preact/signals";
import { isZoomed } from "../../base/span.ts";
import { Popover } from "../../widgets/popover.tsx";
import { useApp } from "./app-context.ts";
import { HEAD_PX } from "./geometry.ts";
import { againBars, placeMarks, restartsOf } from "./sessions.ts";
import { SessionsPanel } from "./sessions-panel.tsx";

/** What the words about the window take at the right end. */
const WINDOW_PX = 190;
const BAR_Y = HEAD_PX + 15;

export function Rail() {
  const { model, picture } = useApp();
  const restarts = useComputed(() => restartsOf(model.steps.answer.value?.value));
  const [geo, view, layout] = [picture.geometry.value, picture.view.value, picture.layout.value];
  const [bounds, sessions] = [picture.bounds.value, model.scope.value?.sessions];
  if (!geo || !view || !layout || !bounds || !sessions) return null;
  const height = Math.min(layout.height, geo.h);
  const room = geo.w - (isZoomed(view, bounds) ? WINDOW_PX : 0);
  const marks = placeMarks(restarts.value, sessions, view, geo.w, room);
  const again = againBars(sessions, model.choices.value.until, view, geo.w);
  return (
    <div class="events">
      {again.map(({ left, right }) => (
        <i
          key={left}
          class="again"
          style={{ left: `${geo.x + left}px`, top: `${BAR_Y}px`, width: `${right - left}px` }}
        />
      ))}
      {marks.map(({ x, session, label }) => (
        <>
          <i
            key={`${session} line`}
            class="restart-line"
            style={{
              left: `${Math.round(geo.x + x)}px`,
              top: `${BAR_Y}px`,
              height: `${geo.y + height - BAR_Y}px`,
            }}
          />
          <div
            key={session}
            class="event"
            style={{ left: `${Math.round(geo.x + x) - 5}px`, top: `${HEAD_PX}px` }}
          >
            <Popover
              kind="dialog"
              testId={`restart-${session}`}
              title={label || "restart"}
              side={x > geo.w / 2 ? "right" : "left"}
              label={
                <>
                  <i class="glyph restart" aria-hidden="true" />
                  {label}
                </>
              }
            >
              {(close) => <SessionsPanel chosen={session} close={close} />}
            </Popover>
          </div>
        </>
      ))}
    </div>
  );
}
