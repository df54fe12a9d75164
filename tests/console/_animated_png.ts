/** One animated PNG of several PNG files of one size and kind, as Chromium's screenshots are. */
import { crc32 } from "node:zlib";

const SIGNATURE_BYTES = 8;

interface Chunk {
  readonly type: string;
  readonly data: Uint8Array;
}

/** The keyword of the text in the file. */
const KEYWORD = "Description";

/**
 * @param frames Each picture, and how long it is shown, in milliseconds.
 * @param text What the pictures show, kept in the file.
 */
export function animatePng(
  frames: readonly { readonly png: Uint8Array; readonly shownMs: number }[],
  text: string,
): Uint8Array<ArrayBuffer> {
  const [first] = frames;
  if (first === undefined) throw new RangeError("No frames");
  const [header, ...rest] = readChunks(first.png);
  if (header === undefined) throw new TypeError("No PNG");
  let sequence = 0;
  const parts = [first.png.subarray(0, SIGNATURE_BYTES), writeChunk(header)];
  // No compression and no language.
  const described = new TextEncoder().encode(`${KEYWORD}\0\0\0\0\0${text}`);
  parts.push(writeChunk({ type: "iTXt", data: described }));
  if (frames.length > 1) parts.push(writeChunk({ type: "acTL", data: numbers([frames.length, 0]) }));
  for (const [index, { png, shownMs }] of frames.entries()) {
    const size = header.data.subarray(0, 8);
    // No offset; shown for so many thousandths of a second; in place of the picture before.
    const control = [
      ...numbers([sequence++]),
      ...size,
      ...numbers([0, 0]),
      ...shorts([shownMs, 1_000]),
      0,
      0,
    ];
    if (frames.length > 1) parts.push(writeChunk({ type: "fcTL", data: new Uint8Array(control) }));
    for (const { type, data } of index === 0 ? rest : readChunks(png)) {
      if (type !== "IDAT") continue;
      const isFirst = index === 0;
      const numbered = isFirst ? data : new Uint8Array([...numbers([sequence++]), ...data]);
      parts.push(writeChunk({ type: isFirst ? "IDAT" : "fdAT", data: numbered }));
    }
  }
  parts.push(writeChunk({ type: "IEND", data: new Uint8Array() }));
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

/** The text that {@linkcode animatePng} has put into a file. */
export function readText(png: Uint8Array): string {
  const chunk = readChunks(png).find(({ type }) => type === "iTXt");
  return new TextDecoder().decode(chunk?.data ?? new Uint8Array()).slice(KEYWORD.length + 5);
}

function readChunks(png: Uint8Array): Chunk[] {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = view.getUint32(at);
    const type = new TextDecoder().decode(png.subarray(at + 4, at + 8));
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function writeChunk({ type, data }: Chunk): Uint8Array {
  const named = new Uint8Array([...new TextEncoder().encode(type), ...data]);
  return new Uint8Array([...numbers([data.length]), ...named, ...numbers([crc32(named)])]);
}

function numbers(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, index) => view.setUint32(index * 4, value));
  return new Uint8Array(view.buffer);
}

function shorts(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 2));
  values.forEach((value, index) => view.setUint16(index * 2, value));
  return new Uint8Array(view.buffer);
}
