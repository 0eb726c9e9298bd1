/** The sessions of the shown model, what became of their samples, and the views of it that can be had. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { whole } from "../../base/numbers.ts";
import { moment } from "../../base/times.ts";
import { Switch } from "../../widgets/switch.tsx";
import { withNumbers } from "../../widgets/with-numbers.tsx";
import { useApp } from "./app-context.ts";
import { overwrittenText } from "./sessions.ts";

interface Props {
  /** The session that begins where the panel was opened. */
  readonly chosen: number;
  close(): void;
}

export function SessionsPanel({ chosen, close }: Props) {
  const { model, actions } = useApp();
  const sessions = model.scope.value?.sessions ?? [];
  const { until, shift } = model.choices.value;
  const root = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    root.current?.querySelector(".on")?.scrollIntoView({ block: "nearest" });
    root.current?.focus();
  }, []);
  const show = (session: number | null) => {
    close();
    actions.showUntil(session);
  };
  return (
    <section
      class="sessions"
      role="dialog"
      aria-label="Sessions"
      tabIndex={-1}
      ref={root}
      data-testid="sessions"
    >
      <h2>
        Sessions <span class="num quiet">{sessions.length}</span>
      </h2>
      <ol>
        {sessions.map((session, k) => (
          <li key={k} class={k === chosen ? "on" : ""}>
            <span class="num">{k + 1}</span>
            <span>{moment(session.wall)}</span>
            <span class="num">
              {whole(session.first)} to {whole(session.last)}
            </span>
            {session.overwritten && <p>{withNumbers(overwrittenText(session))}</p>}
            {session.overwritten &&
              (until === k ? (
                <span class="quiet act">shown</span>
              ) : (
                <button type="button" class="ctl act" data-testid={`show-until-${k}`} onClick={() => show(k)}>
                  Show
                </button>
              ))}
            {session.offset !== null && session.offset !== (sessions[k - 1]?.offset ?? null) && (
              <p class="full">
                {withNumbers(
                  `Its counter began again: ${whole(session.offset)} more would lay it behind the session before.`,
                )}
              </p>
            )}
          </li>
        ))}
      </ol>
      {(shift || sessions.some(({ offset }) => offset !== null)) && (
        <Switch
          label="Lay sessions one behind the other"
          on={shift}
          testId="shift"
          onChange={(on) => {
            close();
            actions.setShift(on);
          }}
        />
      )}
      {until !== null && (
        <button type="button" class="ctl" onClick={() => show(null)}>
          Show the run as it stands
        </button>
      )}
    </section>
  );
}
