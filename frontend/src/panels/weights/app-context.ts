/** Hands the parts of the panel to its components. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Actions } from "./actions.ts";
import type { Names } from "./labels.ts";
import type { Model } from "./model.ts";
import type { Picture } from "./picture.ts";
import type { Player } from "./play.ts";
import type { Pointer } from "./pointer.ts";

export interface App {
  readonly model: Model;
  readonly picture: Picture;
  readonly actions: Actions;
  readonly pointer: Pointer;
  readonly player: Player;
  readonly names: ReadonlySignal<Names | null>;
  /** Steps marked by shift-drag; null while nobody drags. */
  readonly marked: Signal<{ readonly a: number; readonly b: number } | null>;
  readonly sidebar: Signal<boolean>;
  readonly help: Signal<boolean>;
  /** Whether keys and pointer are listened to. */
  readonly interactive: Signal<boolean>;
  /** Null until its code is here. */
  readonly aside: ReadonlySignal<typeof import("./aside.ts") | null>;
}

const Context = createContext<App | null>(null);

export const AppProvider = Context.Provider;

export function useApp(): App {
  return useContext(Context)!;
}
