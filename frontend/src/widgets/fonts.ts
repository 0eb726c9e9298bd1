/** Our own fonts, since TensorBoard's do not reach a plugin's frame. Loaded once, shown when there; Arial until then. */

import regular from "@fontsource/roboto/files/roboto-latin-400-normal.woff2";
import medium from "@fontsource/roboto/files/roboto-latin-500-normal.woff2";
import mono from "@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2";

const FACES = [
  ["Roboto", "400", regular],
  ["Roboto", "500", medium],
  ["Roboto Mono", "400", mono],
] as const;

/** `base` is the address of the module that the files lie beside. */
export function loadFonts(base: string): void {
  for (const [family, weight, file] of FACES) {
    const face = new FontFace(family, `url(${JSON.stringify(new URL(file, base).href)})`, { weight });
    document.fonts.add(face);
    void face.load().catch(() => undefined); // Arial and DejaVu Sans Mono do as well
  }
}
