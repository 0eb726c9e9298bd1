/** The step cursor's bar, with what of the run it stands in. */

import { useComputed } from "@preact/signals";
import { isZoomed } from "../../base/span.ts";
import { CursorBar } from "../../widgets/cursor-bar.tsx";
import { useApp } from "./app-context.ts";
import { holesOf } from "./holes.ts";
import { SpeedMenu } from "./menus.tsx";

export function Cursor() {
  const { model, picture, actions, player, help } = useApp();
  const steps = model.steps.answer.value?.value;
  const holes = useComputed(() => holesOf(model.steps.answer.value?.value));
  const [view, bounds, scope] = [picture.view.value, picture.bounds.value, model.scope.value];
  const zoomed = view && bounds && isZoomed(view, bounds);
  const first = steps?.steps[0] ?? 0;
  const step = steps?.steps.length ? model.cursor.value : null;
  // The cursor may be ahead of the answer that it follows.
  const last = Math.max(steps?.steps.at(-1) ?? 0, step ?? 0);
  return (
    <CursorBar
      step={step}
      first={Math.min(0, first)}
      last={last}
      planned={scope?.planned ?? null}
      holes={holes.value}
      view={zoomed ? view : null}
      live={model.summary.value?.state === "live"}
      playing={player.playing.value}
      speed={player.speed.value}
      speeds={(close) => <SpeedMenu close={close} />}
      onMove={actions.moveTo}
      onFirst={() => actions.moveTo(-Infinity)}
      onPrevious={() => actions.moveBy(-1)}
      onPlay={player.toggle}
      onNext={() => actions.moveBy(1)}
      onLast={() => actions.moveTo(Infinity)}
      onHelp={() => {
        help.value = true;
      }}
    />
  );
}
