/** Says over the picture that it is not the run as it was recorded last, and how to get back. */

import { Note } from "../../widgets/note.tsx";
import { withNumbers } from "../../widgets/with-numbers.tsx";
import { useApp } from "./app-context.ts";
import { pastText, shiftText } from "./sessions.ts";

export function Past() {
  const { model, actions } = useApp();
  const sessions = model.scope.value?.sessions;
  if (!sessions) return null;
  const { until, shift } = model.choices.value;
  const past = pastText(sessions, until);
  return (
    <>
      {past && (
        <Note testId="past" action="Show the run as it stands" onAction={() => actions.showUntil(null)}>
          {withNumbers(past)}
        </Note>
      )}
      {shift && (
        <Note testId="shifted" action="Steps as recorded" onAction={() => actions.setShift(false)}>
          {withNumbers(shiftText(sessions))}
        </Note>
      )}
    </>
  );
}
