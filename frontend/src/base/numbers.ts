/** Writes numbers the way every panel shows them. Minus is U+2212, thousands have commas, units a space. */

const MINUS = "−";

/** `3.34e−6`: ratios and gradient norms. */
export function scientific(value: number): string {
  const odd = special(value);
  if (odd) return odd;
  const [mantissa, exponent] = value.toExponential(2).split("e") as [string, string];
  return `${signed(mantissa)}e${signed(exponent.replace("+", ""))}`;
}

/** `26.72`, and with an exponent where its size lies outside 0.01 to 99,999: norms. */
export function plain(value: number): string {
  const size = Math.abs(value);
  return special(value) ?? (size < 0.01 || size > 99_999 ? scientific(value) : signed(grouped(value, 2)));
}

/** `0.993`: what lies between −1 and 1, and losses. */
export function decimals(value: number, digits = 3): string {
  return special(value) ?? signed(grouped(value, digits));
}

/** `1.4 %` of a fraction; two digits where one decimal would say 0. */
export function percent(fraction: number): string {
  const odd = special(fraction);
  if (odd) return odd === "0" ? "0 %" : odd;
  const value = fraction * 100;
  const size = Math.abs(value);
  if (size < 0.01) return `${scientific(value)} %`;
  const text = size < 0.1 ? value.toPrecision(2) : grouped(value, 1).replace(/\.0$/, "");
  return `${signed(text)} %`;
}

/** `12,400`: steps and whatever must stay exact. */
export function whole(value: number): string {
  return special(value) ?? signed(grouped(Math.round(value), 0));
}

/** `12,400`, from a million on `25.6 M`. */
export function count(value: number): string {
  for (const [size, unit] of UNITS)
    if (Math.abs(value) >= size) return `${decimals(value / size, 1)} ${unit}`;
  return whole(value);
}

/** `441 MB`, `1.2 GB`. */
export function bytes(value: number): string {
  let unit = 0;
  let size = value;
  while (size >= 999.5 && unit < BYTES.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit === 0 || size >= 99.95 ? Math.round(size) : size.toFixed(1)} ${BYTES[unit]}`;
}

/** `1e−3` of the exponent −3. */
export function powerOfTen(exponent: number): string {
  return `1e${signed(String(exponent))}`;
}

/** `2 s`, `5 min`, `3 h`, `4 d`. */
export function duration(seconds: number): string {
  for (const [size, unit] of [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const)
    if (seconds >= size * 1.5) return `${Math.round(seconds / size)} ${unit}`;
  return `${Math.max(0, Math.round(seconds))} s`;
}

/** `1 tensor`, `12 tensors`. */
export function plural(n: number, noun: string): string {
  return `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
}

const UNITS = [
  [1e9, "G"],
  [1e6, "M"],
] as const;
const BYTES = ["B", "kB", "MB", "GB", "TB"];

function special(value: number): string | undefined {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : `${MINUS}Inf`;
  return undefined;
}

function signed(text: string): string {
  return text.replace("-", MINUS);
}

function grouped(value: number, digits: number): string {
  const [integer, fraction] = value.toFixed(digits).split(".") as [string, string | undefined];
  const commas = integer.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? commas : `${commas}.${fraction}`;
}
