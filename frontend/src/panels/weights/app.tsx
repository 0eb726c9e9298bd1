/** The frame of the tab: run picker, toolbar, picture or what stands in its place, cursor bar. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { whole } from "../../base/numbers.ts";
import { RunPicker } from "../../widgets/runs.tsx";
import { Banner, Progress } from "../../widgets/states.tsx";
import { useApp } from "./app-context.ts";
import { Axis, Overlay } from "./axis.tsx";
import { Rows } from "./cells.tsx";
import { phaseOf } from "./phase.ts";
import { glyphAndWord } from "./run-words.ts";
import { Head, Scale } from "./scale.tsx";
import { signalPhase } from "./signs.ts";
import { Toolbar } from "./toolbar.tsx";

export function Frame() {
  const app = useApp();
  const { model, picture, sidebar, help } = app;
  const aside = app.aside.value;
  const progress = model.runs.value?.progress;
  const phase = phaseOf(app);
  useEffect(() => {
    const detach = aside?.attachKeys(app); // after the gestures: effects of children run first
    app.interactive.value = aside !== null;
    return detach;
  }, [app, aside]);
  useSignalEffect(() =>
    signalPhase(phaseOf(app).is, model.away.value !== null, app.interactive.value, model.cursor.value),
  );
  const close = () => {
    sidebar.value = false;
  };
  return (
    <div class={`tab${sidebar.value ? "" : " folded"}${picture.slim.value ? " slim" : ""}`}>
      {sidebar.value && picture.slim.value && <div class="scrim" aria-hidden="true" onClick={close} />}
      {sidebar.value && <Runs />}
      <main>
        {(phase.is !== "empty" || !sidebar.value) && <Toolbar />}
        {progress && !progress.done && (
          <Progress share={progress.bytes_total ? progress.bytes / progress.bytes_total : null} />
        )}
        <Connection />
        {aside && <aside.Past />}
        <Main />
      </main>
      {aside ? <aside.Cursor /> : <footer class="cursorbar" />}
      {help.value && aside && (
        <aside.Help
          onClose={() => {
            help.value = false;
          }}
        />
      )}
    </div>
  );
}

function Main() {
  const app = useApp();
  const phase = phaseOf(app);
  if (phase.is === "loading" || phase.is === "picture") return <PictureBox />;
  return app.aside.value && <app.aside.value.Pane phase={phase} />;
}

function PictureBox() {
  const app = useApp();
  const { picture } = app;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current!;
    const measure = () => {
      const { clientWidth, clientHeight } = element;
      if (!clientWidth || !clientHeight) return; // a hidden tab: keep what it was
      picture.frame.value = { width: clientWidth, height: clientHeight, ratio: window.devicePixelRatio || 1 };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [app]);
  const aside = app.aside.value;
  useEffect(() => aside?.attachGestures(box.current!, app), [app, aside]);
  return (
    <div class="picture" ref={box} data-testid="picture">
      <Scale />
      {aside && <aside.Reading />}
      <Head />
      <Rows />
      {aside && <aside.Rail />}
      <Axis />
      <Overlay />
    </div>
  );
}

/** One line above the picture while the server is away; the picture stays, dimmed. */
function Connection() {
  const { model, picture } = useApp();
  const away = model.away.value;
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!away) return;
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 500);
    return () => clearInterval(timer);
  }, [away]);
  if (!away) return null;
  const seconds = Math.ceil(((model.poll.due() ?? 0) - now.value) / 1000);
  const since = new Date(away.since).toLocaleTimeString("en-GB");
  return (
    <Banner testId="away" action="Ask now" onAction={model.poll.now}>
      {away.sentence}
      {picture.cells.answer.value && (
        <>
          {" "}
          The picture is as of <span class="num">{since}</span>.
        </>
      )}{" "}
      Asking again {seconds > 0 ? `in ${whole(seconds)} s` : "now"}.
    </Banner>
  );
}

function Runs() {
  const { model, picture, actions, sidebar, aside } = useApp();
  const Details = aside.value?.RunDetails;
  const answer = model.runs.value;
  const progress = answer?.progress;
  const runs = (answer?.runs ?? []).map((run) => ({
    name: run.name,
    ...glyphAndWord(run),
    right: run.last_step === null ? "" : whole(run.last_step),
  }));
  return (
    <RunPicker
      runs={runs}
      chosen={model.choices.value.run}
      note={
        progress && !progress.done
          ? `${whole(progress.files)} of ${whole(progress.files_total)} files read`
          : "by folder"
      }
      onChoose={(name) => {
        actions.chooseRun(name);
        if (picture.slim.peek()) sidebar.value = false;
      }}
      onFold={() => {
        sidebar.value = false;
      }}
    >
      {Details && (
        <Details
          run={model.choices.value.run ?? ""}
          facts={model.scope.value?.facts ?? []}
          oddities={answer?.oddities ?? []}
        />
      )}
    </RunPicker>
  );
}
