/** The toolbar: what is shown, how, whether it is live, and the link to it. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { duration, whole } from "../../base/numbers.ts";
import { linkToHere } from "../../host/parent.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Filter } from "../../widgets/filter.tsx";
import { Icon } from "../../widgets/icons.tsx";
import { Popover } from "../../widgets/popover.tsx";
import { Switch } from "../../widgets/switch.tsx";
import { useApp } from "./app-context.ts";
import { endText } from "./legend.ts";
import { patternOf } from "./model.ts";
import { glyphAndWord } from "./run-words.ts";

export function Toolbar() {
  const { model, picture, actions, sidebar } = useApp();
  const choices = model.choices.value;
  const slim = picture.slim.value;
  return (
    <div class="toolbar" role="group" aria-label="What is shown">
      {(slim || !sidebar.value) && (
        <button
          type="button"
          class="ctl bare square"
          title="Runs"
          aria-label="Runs"
          data-testid="open-runs"
          aria-expanded={sidebar.value}
          onClick={() => {
            sidebar.value = !sidebar.value;
          }}
        >
          <Icon name="side" />
        </button>
      )}
      {model.scope.value && <Choosers />}
      <span class="grow" />
      <Live />
      {model.scope.value && !slim && (
        <Switch
          label="Follow latest"
          title="Keep the newest step at the right edge, and the limits robust"
          on={choices.follow}
          testId="follow"
          onChange={actions.setFollow}
        />
      )}
      {model.scope.value && (
        <CopyButton icon="link" title="Copy a link to this view" testId="copy-link" bare text={linkToHere} />
      )}
      <More />
    </div>
  );
}

function Choosers() {
  const { model, picture, aside } = useApp();
  const Items = aside.value?.ModelMenu;
  const scopes = model.info.answer.value?.value.scopes ?? [];
  const slim = picture.slim.value;
  return (
    <>
      <Statistic />
      {scopes.length > 1 && (
        <Popover
          kind="menu"
          testId="scope"
          label={
            <>
              <span class="quiet">Model</span> {model.scope.value?.name}
              <span class="caret" />
            </>
          }
        >
          {(close) => Items && <Items close={close} />}
        </Popover>
      )}
      {!slim && <LimitsControl />}
      {!slim && <RowFilter />}
    </>
  );
}

function Statistic() {
  const { model, aside } = useApp();
  const Items = aside.value?.StatisticMenu;
  return (
    <Popover
      kind="menu"
      testId="statistic"
      label={
        <>
          <b>{model.column.value?.label ?? model.choices.value.statistic}</b>
          <span class="caret" />
        </>
      }
    >
      {(close) => Items && <Items close={close} />}
    </Popover>
  );
}

function LimitsControl() {
  const { model, picture, aside } = useApp();
  const Form = aside.value?.LimitsForm;
  const axis = picture.axis.value;
  const column = model.column.value;
  if (!axis || !column) return null;
  return (
    <Popover
      kind="dialog"
      testId="limits"
      label={
        <>
          {axis.log ? "Log" : "Linear"}
          {axis.centre !== null && (
            <>
              <span class="quiet">about</span>
              <span class="num">{endText(axis, column, axis.centre)}</span>
            </>
          )}
          <span class="quiet">limits</span>
          <span class="num">{endText(axis, column, axis.low)}</span>
          to
          <span class="num">{endText(axis, column, axis.high)}</span>
          <span class="caret" />
        </>
      }
    >
      {(close) => Form && <Form column={column} close={close} />}
    </Popover>
  );
}

function RowFilter() {
  const { model, picture, actions } = useApp();
  const { filter } = model.choices.value;
  const note = picture.filtered.value;
  return (
    <Filter
      icon="filter"
      label="Filter rows (regex)"
      value={filter}
      valid={!filter || patternOf(filter) !== null}
      {...(note && { note: `${whole(note.shown)} of ${whole(note.of)}` })}
      testId="row-filter"
      onChange={actions.setFilter}
    />
  );
}

const TICK_MS = 1000;

function Live() {
  const { model, picture } = useApp();
  const now = useSignal(Date.now());
  const run = model.summary.value;
  const isLive = run?.state === "live";
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      now.value = Date.now();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  if (!run) return null;
  const { glyph, word } = glyphAndWord(run);
  return (
    <span class="liveness" data-testid="live" data-state={word}>
      <i class={`glyph ${isLive ? "live halo" : glyph}`} aria-hidden="true" />
      <b>{word}</b>
      {isLive && run.last_wall !== null && !picture.slim.value && (
        <span class="ago">{duration(now.value / 1000 - run.last_wall)} ago</span>
      )}
    </span>
  );
}

function More() {
  const { aside } = useApp();
  const Items = aside.value?.MoreMenu;
  return (
    <Popover kind="menu" testId="more" title="More" bare icon side="right" label={<Icon name="more" />}>
      {(close) => Items && <Items close={close} />}
    </Popover>
  );
}
