/** Decodes the server's binary answers: a JSON header, then aligned little-endian arrays. */

export type Numbers = Float32Array | Float64Array | Uint8Array | Uint16Array | Uint32Array | Int32Array;

export interface Columns {
  readonly header: Readonly<Record<string, unknown>>;
  readonly arrays: ReadonlyMap<string, Numbers>;
}

interface ArraySpec {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In bytes from the end of the header. */
  readonly offset: number;
}

const VIEWS = new Map<string, new (buffer: ArrayBuffer, offset: number, length: number) => Numbers>([
  ["<f4", Float32Array],
  ["<f8", Float64Array],
  ["|u1", Uint8Array],
  ["<u2", Uint16Array],
  ["<u4", Uint32Array],
  ["<i4", Int32Array],
]);

/**
 * Views into `buffer`, which is not copied: u32 length of the header, the header, then its `arrays`.
 *
 * Throws RangeError where the header promises more than there is, or a type nobody agreed on.
 */
export function decodeColumns(buffer: ArrayBuffer): Columns {
  if (buffer.byteLength < 4) throw new RangeError(`An answer of ${buffer.byteLength} bytes has no header.`);
  const start = 4 + new DataView(buffer).getUint32(0, true);
  if (start > buffer.byteLength)
    throw new RangeError(`The header ends at byte ${start} of an answer of ${buffer.byteLength} bytes.`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, start - 4)));
  const arrays = new Map<string, Numbers>();
  for (const spec of header.arrays as ArraySpec[]) {
    const View = VIEWS.get(spec.dtype);
    if (!View) throw new RangeError(`Array '${spec.name}' has the unknown type '${spec.dtype}'.`);
    const length = spec.shape.reduce((product, side) => product * side, 1);
    arrays.set(spec.name, new View(buffer, start + spec.offset, length));
  }
  return { header, arrays };
}

/** The array called `name`, of the type the contract gives it. Throws RangeError where it is another or absent. */
export function column<T extends Numbers>(
  columns: Columns,
  name: string,
  ...types: (new (
    length: number,
  ) => T)[]
): T {
  const found = columns.arrays.get(name);
  for (const type of types) if (found instanceof type) return found;
  const expected = types.map((type) => type.name).join(" or ");
  throw new RangeError(
    `Array '${name}' should be ${expected} and is ${found?.constructor.name ?? "absent"}.`,
  );
}
