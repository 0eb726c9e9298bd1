/** Half-open spans of steps, and how zooming and panning change them. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

export const width = (span: Span): number => span.to - span.from;

export const sameSpan = (a: Span | null, b: Span | null): boolean => a?.from === b?.from && a?.to === b?.to;

export const overlaps = (a: Span, b: Span): boolean => a.from < b.to && b.from < a.to;

/** Moved, and shrunk where it is wider, until it lies inside `bounds`. */
export function clampSpan(span: Span, bounds: Span): Span {
  if (width(span) >= width(bounds)) return bounds;
  if (span.from < bounds.from) return { from: bounds.from, to: bounds.from + width(span) };
  if (span.to > bounds.to) return { from: bounds.to - width(span), to: bounds.to };
  return span;
}

/** `factor` times as wide, with step `at` staying where it is. Never under `least` steps wide. */
export function zoomSpan(span: Span, factor: number, at: number, bounds: Span, least = 2): Span {
  const wide = Math.min(width(bounds), Math.max(Math.min(least, width(bounds)), width(span) * factor));
  const from = at - ((at - span.from) / width(span)) * wide;
  return clampSpan({ from, to: from + wide }, bounds);
}

export function panSpan(span: Span, steps: number, bounds: Span): Span {
  return clampSpan({ from: span.from + steps, to: span.to + steps }, bounds);
}

/** The same width, ending where `bounds` ends. */
export function latestSpan(span: Span, bounds: Span): Span {
  return clampSpan({ from: bounds.to - width(span), to: bounds.to }, bounds);
}

/** Pixels from the left edge of a picture `px` wide. */
export function toPixel(step: number, span: Span, px: number): number {
  return ((step - span.from) / width(span)) * px;
}

export function toStep(x: number, span: Span, px: number): number {
  return span.from + (x / px) * width(span);
}

/** Whether `span` leaves out more of `bounds` than anyone could see. */
export function isZoomed(span: Span, bounds: Span): boolean {
  return width(span) < width(bounds) * 0.999;
}
