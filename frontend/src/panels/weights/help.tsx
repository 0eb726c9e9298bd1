/** The keys and the pointer of this tab, in words. */

import { KeysHelp } from "../../widgets/keys-help.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["← →", "one sample, with shift ten"],
  ["Home End", "first and last sample"],
  ["Space", "play the step cursor, stop"],
  ["↑ ↓", "row above, row below"],
  ["+ −", "zoom steps, with shift rows"],
  ["0", "whole run, rows that fit"],
  ["/", "filter rows"],
  ["Esc", "close, let go of the row"],
  ["?", "these keys"],
  ["in the names", "← → fold and unfold, ↑ ↓ move"],
  ["wheel", "zoom steps at the pointer, over the names the row height"],
  ["drag", "pan, with shift select steps and zoom"],
  ["click", "set the step cursor, on a module fold it"],
  ["double click", "as 0"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return <KeysHelp keys={KEYS} onClose={onClose} />;
}
