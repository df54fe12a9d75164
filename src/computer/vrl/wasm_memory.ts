/** Bounds the memory of a WebAssembly module, which may otherwise grow to 4 GiB. */
import { Buffer } from "node:buffer";

/** The size of a page of WebAssembly memory, in bytes. */
const PAGE_BYTES = 65_536;
/** Magic number and version, which every module begins with. */
const HEADER_BYTES = 8;
/** The id of the section that declares a module's own memories. */
const MEMORY_SECTION = 5;
/** The flag of limits that have a maximum. */
const HAS_MAXIMUM = 1;

/**
 * Gives the same module with a maximum for its only memory. A program that exceeds the maximum ends with a
 * `WebAssembly.RuntimeError`.
 *
 * @param module A module in the binary format of WebAssembly 1.0.
 * @param maxBytes The maximum, rounded down to whole pages of 64 KiB.
 * @throws {TypeError} when the module does not declare a memory.
 */
export function withMaxMemory(module: Uint8Array<ArrayBuffer>, maxBytes: number): Uint8Array<ArrayBuffer> {
  let offset = HEADER_BYTES;
  while (offset < module.length) {
    const id = module[offset];
    const size = readNumber(module, offset + 1);
    const end = size.end + size.value;
    if (id === MEMORY_SECTION) {
      const section = boundedMemory(module.subarray(size.end, end), Math.floor(maxBytes / PAGE_BYTES));
      return Buffer.concat([module.subarray(0, offset), section, module.subarray(end)]);
    }
    offset = end;
  }
  throw new TypeError("Cannot bound the memory of a WebAssembly module: it declares none");
}

/** The memory section with a maximum, in pages. */
function boundedMemory(content: Uint8Array<ArrayBuffer>, maxPages: number): Uint8Array<ArrayBuffer> {
  const count = readNumber(content, 0);
  const flags = content[count.end];
  if (count.value !== 1 || flags === undefined || flags > HAS_MAXIMUM) {
    throw new TypeError("Cannot bound the memory of a WebAssembly module: its limits have an unknown form");
  }
  const minimum = readNumber(content, count.end + 1);
  const stated = flags === HAS_MAXIMUM ? readNumber(content, minimum.end).value : Infinity;
  const limits = [
    ...writeNumber(1),
    HAS_MAXIMUM,
    ...writeNumber(minimum.value),
    ...writeNumber(Math.min(maxPages, stated)),
  ];
  return Uint8Array.from([MEMORY_SECTION, ...writeNumber(limits.length), ...limits]);
}

/** An unsigned LEB128 number of at most 32 bits, and where it ends. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[start + index] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw new TypeError("Cannot read a WebAssembly module: a number is too long");
}

function writeNumber(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push(rest % 0x80 + 0x80);
  return [...bytes, Math.floor(value / 0x80 ** bytes.length)];
}
