// Packed samples: base64 of a varint count, then five columns of that many varints each
// (t_us, usage_us, nr_periods, nr_throttled, throttled_us). A varint 0 is null, any other is
// 1 + zigzag(value - the column's previous value that was not null). Values stay below 2^53,
// so everything is Number arithmetic: shifts would cut at 32 bits.

export const COLUMNS = ["t", "usage", "periods", "throttled", "paused"];

/** Bytes of a base64 text. */
export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * Columns of a packed block as Float64Array, NaN where there is null.
 * Throws RangeError on a truncated or overlong block: half a block is not a reading.
 */
export function unpack(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (at >= bytes.length) throw new RangeError("packed samples end too early");
      const byte = bytes[at];
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
      scale *= 128;
      if (scale > 2 ** 56) throw new RangeError("packed samples hold a number that is too long");
    }
  };
  const count = varint();
  if (count > bytes.length) throw new RangeError("packed samples promise more than they hold");
  const columns = { count };
  for (const name of COLUMNS) {
    const column = new Float64Array(count);
    let previous = 0;
    for (let i = 0; i < count; i += 1) {
      const raw = varint();
      if (raw === 0) {
        column[i] = NaN;
      } else {
        const zigzag = raw - 1;
        previous += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
        column[i] = previous;
      }
    }
    columns[name] = column;
  }
  if (at !== bytes.length) throw new RangeError("packed samples have bytes left over");
  return columns;
}

export const decode = (text) => unpack(bytesOf(text));
