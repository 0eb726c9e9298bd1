/** The measures of the picture in CSS px, from the size of its frame. */

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Device px a CSS px. */
  readonly ratio: number;
}

export interface Geometry {
  readonly slim: boolean;
  /** Left edge and width of the cells. */
  readonly x: number;
  readonly w: number;
  /** Upper edge and greatest height of the cells. */
  readonly y: number;
  readonly h: number;
  /** Width of the column of values at the cursor; 0 where there is no room. */
  readonly values: number;
  readonly ratio: number;
}

export const AXIS_PX = 28;
/** Upper edge of the line above the cells, and of the cells. */
export const HEAD_PX = 70;
const TOP_PX = 90;

export function geometry(frame: Frame, slim: boolean): Geometry {
  const x = slim ? 166 : 256;
  const values = frame.width < 560 ? 0 : 68;
  return {
    slim,
    x,
    w: Math.max(1, frame.width - x - (values || 16)),
    y: TOP_PX,
    h: Math.max(1, frame.height - TOP_PX - AXIS_PX),
    values,
    ratio: frame.ratio,
  };
}
