/** What the buttons of the toolbar and the cursor bar open. */

import { Menu, type MenuItem } from "../../widgets/menu.tsx";
import { useApp } from "./app-context.ts";
import { SPEEDS } from "./play.ts";
import { grouped } from "./statistics.ts";

interface Props {
  close(): void;
}

export function StatisticMenu({ close }: Props) {
  const { model, actions } = useApp();
  const chosen = model.column.value;
  const items = grouped(model.scope.value?.columns ?? []).flatMap(([heading, columns]) =>
    columns.map(
      (column, k): MenuItem => ({
        id: column.name,
        label: column.label,
        ...(column.scale === "log" && { hint: "log" }),
        checked: column.name === chosen?.name,
        ...(k === 0 && { heading }),
      }),
    ),
  );
  return <Menu title="Statistic" items={items} onPick={then(close, actions.chooseStatistic)} />;
}

/** Of a run that watched several. */
export function ModelMenu({ close }: Props) {
  const { model, actions } = useApp();
  const scopes = model.info.answer.value?.value.scopes ?? [];
  const chosen = model.scope.value?.name;
  const items = scopes.map(({ name }) => ({ id: name, label: name, checked: name === chosen }));
  return <Menu title="Model" items={items} onPick={then(close, actions.chooseScope)} />;
}

export function MoreMenu({ close }: Props) {
  const { model, picture, actions, help } = useApp();
  const { follow, row } = model.choices.value;
  const items: MenuItem[] = [
    ...(picture.slim.value
      ? [{ id: "follow", label: follow ? "Follow latest: turn off" : "Follow latest: turn on" }]
      : []),
    { id: "reset", label: "Whole run", hint: "0" },
    { id: "fold", label: "Fold all modules" },
    { id: "unfold", label: "Unfold all modules" },
    ...(row === null ? [] : [{ id: "fit", label: "Rows that fit", hint: `now ${row} px` }]),
    { id: "keys", label: "Keys", hint: "?" },
  ];
  const act: Record<string, () => void> = {
    follow: () => actions.setFollow(!follow),
    reset: actions.reset,
    fold: actions.foldAll,
    unfold: actions.unfoldAll,
    fit: actions.fitRows,
    keys: () => {
      help.value = true;
    },
  };
  return <Menu title="More" items={items} onPick={then(close, (id) => act[id]?.())} />;
}

export function SpeedMenu({ close }: Props) {
  const { player } = useApp();
  const items = SPEEDS.map((speed) => ({
    id: String(speed),
    label: `${speed}×`,
    checked: speed === player.speed.value,
  }));
  const pick = (id: string) => {
    player.speed.value = Number(id);
  };
  return <Menu title="Speed of play" items={items} onPick={then(close, pick)} />;
}

const then = (close: () => void, act: (id: string) => void) => (id: string) => {
  close();
  act(id);
};
