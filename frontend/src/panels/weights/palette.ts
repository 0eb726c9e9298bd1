/** The inks of the picture in each theme: the scale, and a colour and a pattern for each mark. */

import { pixel, type ScaleName, STOPS, scaleTable, type Theme } from "../../base/colour.ts";
import { MARK } from "./codes.ts";

/** Packed pixels of a theme: the scale, and two inks a mark. */
export interface Palette {
  readonly scale: Uint32Array;
  readonly background: number;
  readonly unread: number;
  readonly nan: readonly [number, number];
  readonly inf: readonly [number, number];
  readonly missing: readonly [number, number];
}

const MARKS = {
  light: {
    background: "#ffffff",
    unread: "#f6f7f9",
    nan: ["#a626c9", "#cf8be2"],
    inf: ["#111111", "#b4bac1"],
    missing: ["#d9dde2", "#f6f7f9"],
  },
  dark: {
    background: "#1e1f22",
    unread: "#26282c",
    nan: ["#d07bea", "#8a4aa3"],
    inf: ["#ffffff", "#6f757d"],
    missing: ["#3a3d42", "#26282c"],
  },
} as const;

export function palette(theme: Theme, scale: ScaleName): Palette {
  const marks = MARKS[theme];
  const pair = ([a, b]: readonly [string, string]) => [pixel(a), pixel(b)] as const;
  return {
    scale: scaleTable(STOPS[scale][theme]),
    background: pixel(marks.background),
    unread: pixel(marks.unread),
    nan: pair(marks.nan),
    inf: pair(marks.inf),
    missing: pair(marks.missing),
  };
}

/** The pixel of a mark at (x, y) in CSS px: a colour and a pattern, so that nothing hangs on colour alone. */
export function markPixel(ink: Palette, mark: number, x: number, y: number): number {
  switch (mark) {
    case MARK.NAN:
      return ink.nan[(x + y) % 4 === 0 ? 1 : 0]!;
    case MARK.INF:
      return ink.inf[y % 3 === 2 ? 1 : 0]!;
    case MARK.MISSING:
      return ink.missing[(x + y) % 6 < 3 ? 0 : 1]!;
    case MARK.UNREAD:
      return ink.unread;
    default:
      return ink.background;
  }
}
