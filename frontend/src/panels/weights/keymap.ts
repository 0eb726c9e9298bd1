/** Which key does what. */

export type Command =
  | { readonly do: "step"; readonly samples: number }
  | { readonly do: "first" | "last" | "play" | "close" | "reset" | "filter" | "help" }
  | { readonly do: "row"; readonly by: 1 | -1 }
  | { readonly do: "zoom-steps" | "zoom-rows"; readonly by: 1 | -1 };

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The command of a key press outside of text fields, or undefined where it is not ours. */
export function commandOf(press: KeyPress): Command | undefined {
  if (press.ctrlKey || press.metaKey || press.altKey) return undefined;
  const samples = press.shiftKey ? 10 : 1;
  switch (press.key) {
    case "ArrowLeft":
      return { do: "step", samples: -samples };
    case "ArrowRight":
      return { do: "step", samples };
    case "ArrowUp":
      return { do: "row", by: -1 };
    case "ArrowDown":
      return { do: "row", by: 1 };
    case "Home":
      return { do: "first" };
    case "End":
      return { do: "last" };
    case " ":
      return { do: "play" };
    case "Escape":
      return { do: "close" };
    case "0":
      return { do: "reset" };
    case "/":
      return { do: "filter" };
    case "?":
      return { do: "help" };
    case "+": // with shift it is the key of "=", which zooms steps without
      return { do: press.shiftKey ? "zoom-rows" : "zoom-steps", by: 1 };
    case "=":
      return { do: "zoom-steps", by: 1 };
    case "*": // shift and "+" where that has a key of its own
      return { do: "zoom-rows", by: 1 };
    case "-":
      return { do: "zoom-steps", by: -1 };
    case "_":
      return { do: "zoom-rows", by: -1 };
    default:
      return undefined;
  }
}
