/** Colour scales: stops interpolated in OKLab into tables of packed pixels. */

export const SCALE_SIZE = 512;

export type Theme = "light" | "dark";
type Triple = readonly [number, number, number];

/** The stops of design/tokens.css: even in lightness and safe for the colour blind. */
export const STOPS = {
  diverging: {
    light: [
      "#08306b",
      "#2166ac",
      "#67a9cf",
      "#d1e5f0",
      "#f3f3f1",
      "#fddbc7",
      "#ef8a62",
      "#c5352d",
      "#67001f",
    ],
    dark: ["#9ecbf0", "#5a9fd4", "#2f6ea5", "#24435e", "#2b2d31", "#5e3a2f", "#b0492f", "#e8603c", "#ffb199"],
  },
  magnitude: {
    light: ["#f7fbff", "#6baed6", "#08306b"],
    dark: ["#20252b", "#3b83bd", "#d6eaf8"],
  },
} as const satisfies Record<string, Record<Theme, readonly string[]>>;

export type ScaleName = keyof typeof STOPS;

/** `#rrggbb` as a pixel of ImageData on a little-endian machine: 0xAABBGGRR. */
export function pixel(hex: string): number {
  const [r, g, b] = channels(hex);
  return pack(r, g, b);
}

/** A packed pixel as CSS writes it. */
export function css(packed: number): string {
  return `rgb(${packed & 255},${(packed >> 8) & 255},${(packed >> 16) & 255})`;
}

/** [SCALE_SIZE] packed pixels from the first stop to the last. */
export function scaleTable(stops: readonly string[], size = SCALE_SIZE): Uint32Array {
  const labs = stops.map((hex) => toLab(channels(hex)));
  const table = new Uint32Array(size);
  for (let i = 0; i < size; i++) {
    const at = (i / (size - 1)) * (labs.length - 1);
    const k = Math.min(labs.length - 2, Math.floor(at));
    table[i] = fromLab(labs[k]!, labs[k + 1]!, at - k);
  }
  return table;
}

function channels(hex: string): Triple {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function pack(r: number, g: number, b: number): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** sRGB, 0 to 255, to OKLab (B. Ottosson, https://bottosson.github.io/posts/oklab). */
function toLab(rgb: Triple): Triple {
  const [r, g, b] = rgb.map(linear) as unknown as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** The point `t` of the way from `p` to `q`, packed. */
function fromLab(p: Triple, q: Triple, t: number): number {
  const L = p[0] + (q[0] - p[0]) * t;
  const a = p[1] + (q[1] - p[1]) * t;
  const b = p[2] + (q[2] - p[2]) * t;
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return pack(
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  );
}

function linear(channel: number): number {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function gamma(value: number): number {
  const c = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, c)));
}
