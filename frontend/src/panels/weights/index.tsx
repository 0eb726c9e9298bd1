/** The Weights tab: the entry that TensorBoard's frame imports. */

import { effect, signal } from "@preact/signals";
import { render as mount } from "preact";
import tokens from "../../base/tokens.css";
import { pluginLink } from "../../host/link.ts";
import { takeFocus } from "../../host/parent.ts";
import { followTheme } from "../../host/theme.ts";
import { followVisibility, visible } from "../../host/visible.ts";
import { loadFonts } from "../../widgets/fonts.ts";
import frame from "../../widgets/frame.css";
import { createActions } from "./actions.ts";
import { Frame } from "./app.tsx";
import { type App, AppProvider } from "./app-context.ts";
import { createModel } from "./model.ts";
import { createNames } from "./name-space.ts";
import { phaseOf } from "./phase.ts";
import { createPicture } from "./picture.ts";
import { createPlayer } from "./play.ts";
import { createPointer } from "./pointer.ts";
import style from "./weights.css";

const SLIM = "(max-width: 899px)";

/** TensorBoard swallows what this throws, so trouble is told on the page. */
export function render(): void {
  try {
    start();
  } catch (error) {
    document.body.textContent = `The Weights tab could not start: ${(error as Error).message}`;
    throw error;
  }
}

function start(): void {
  document.title = "Weights";
  const sheet = document.createElement("style");
  sheet.textContent = tokens + frame + style;
  document.head.append(sheet);
  loadFonts(import.meta.url);
  followTheme();
  followVisibility();
  takeFocus();

  const model = createModel(pluginLink("zentracer_weights"));
  const picture = createPicture(model);
  const actions = createActions(model, picture);
  const aside = signal<typeof import("./aside.ts") | null>(null);
  const slim = window.matchMedia(SLIM);
  const app: App = {
    model,
    picture,
    actions,
    pointer: createPointer(model, picture),
    player: createPlayer(model, actions),
    names: createNames(model, picture),
    marked: signal(null),
    sidebar: signal(!slim.matches),
    help: signal(false),
    interactive: signal(false),
    aside,
  };
  const fit = () => {
    picture.slim.value = slim.matches;
    app.sidebar.value = !slim.matches;
  };
  slim.addEventListener("change", fit);
  fit();
  let asked = false;
  effect(() => {
    // Not before the first picture, unless that waits for the logs to be read; and again where TensorBoard was away.
    const waits = model.runs.value?.progress.done !== false && phaseOf(app).is === "loading";
    if (asked || model.away.value || !model.runs.value || waits) return;
    asked = true;
    import("./aside.ts").then(
      (code) => {
        aside.value = code;
      },
      () => {
        asked = false;
      },
    );
  });
  effect(() => {
    if (visible.value) model.poll.now();
    else model.poll.pause();
  });
  mount(
    <AppProvider value={app}>
      <Frame />
    </AppProvider>,
    document.body,
  );
}
