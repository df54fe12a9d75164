/** Zip files, as office formats are. */
import { unzipSync } from "fflate";
import { type ParseLimits, unreadable } from "./format.ts";

/** Whether a file is a compound file: an office file with a password, or of a format before 2007. */
export function isCompoundFile(bytes: Uint8Array): boolean {
  return [0xd0, 0xcf, 0x11, 0xe0].every((byte, index) => bytes[index] === byte);
}

export function isZipFile(bytes: Uint8Array): boolean {
  return [0x50, 0x4b, 0x03, 0x04].every((byte, index) => bytes[index] === byte);
}

/** A part, as the directory of the file has it. */
interface Part {
  readonly name: string;
  /** How many bytes it unpacks to. */
  readonly size: number;
}

/**
 * The parts of a zip file, unpacked when they are read. The case of their names does not matter (ECMA-376-2, 6.2.2.3), and
 * some programs write backslashes. Of several parts with one name, there is the first.
 */
export class ZipParts {
  readonly #bytes: Uint8Array;
  readonly #maxUnpackedBytes: number;
  readonly #parts = new Map<string, Part>();
  /** The small parts that were read. */
  readonly #kept = new Map<Part, Uint8Array>();
  /** The parts that were read; each counts once. */
  readonly #counted = new Set<Part>();
  readonly #toKey: (name: string) => string;
  #unpackedBytes = 0;
  #isPreloaded = false;

  /**
   * @param keepsCase whether names that differ in their case are those of different parts, as in archives of files
   * @throws {DocumentError} when the file is no zip file, or unpacks to more than the limit. */
  constructor(
    bytes: Uint8Array,
    { maxUnpackedBytes }: Pick<ParseLimits, "maxUnpackedBytes">,
    { keepsCase = false } = {},
  ) {
    this.#toKey = keepsCase ? (name) => name : toKey;
    if (isCompoundFile(bytes)) {
      throw unreadable(
        "encrypted",
        "the file has a password, or is of a format before 2007; save it in a newer format without a password",
      );
    }
    this.#bytes = bytes;
    this.#maxUnpackedBytes = maxUnpackedBytes;
    this.#unzip(({ name, originalSize }) => {
      const key = this.#toKey(name);
      if (!this.#parts.has(key)) this.#parts.set(key, { name, size: originalSize });
      return false;
    });
  }

  /** The names of the parts, in lower case unless the case matters. */
  get names(): readonly string[] {
    return [...this.#parts.keys()];
  }

  /** How many bytes a part unpacks to; 0 when there is none. */
  sizeOf(name: string): number {
    return this.#parts.get(this.#toKey(name))?.size ?? 0;
  }

  /** The bytes of a part; `undefined` when there is none. They are kept only for small parts. */
  bytes(name: string): Uint8Array | undefined {
    const part = this.#parts.get(this.#toKey(name));
    if (part === undefined) return undefined;
    this.#count(part);
    if (this.#parts.size > MANY_PARTS && !this.#isPreloaded) {
      try {
        this.#preload();
      } catch {
        // One of them is damaged; each is unpacked by itself then.
      }
    }
    const kept = this.#kept.get(part);
    if (kept !== undefined) return kept;
    let isFound = false;
    const bytes = this.#unzip((entry) => {
      if (isFound || entry.name !== part.name) return false;
      return isFound = true;
    })[part.name];
    if (bytes !== undefined && bytes.length < KEPT_BYTES) this.#kept.set(part, bytes);
    return bytes;
  }

  /** To find a part takes as long as the file has parts, so of a file of many the small ones are unpacked together. */
  #preload(): void {
    this.#isPreloaded = true;
    const names = new Set<string>();
    let room = PRELOADED_BYTES;
    const unpacked = this.#unzip(({ name, originalSize }) => {
      if (originalSize >= KEPT_BYTES || names.has(name) || room < originalSize) return false;
      room -= originalSize;
      names.add(name);
      return true;
    });
    for (const [name, bytes] of Object.entries(unpacked)) {
      const part = this.#parts.get(this.#toKey(name));
      if (part?.name === name) this.#kept.set(part, bytes);
    }
  }

  /** The bytes of a part in UTF-8; XML may be in UTF-16 as well, and then begins with a mark (XML 1.0, 4.3.3). */
  utf8(name: string): Uint8Array | undefined {
    const bytes = this.bytes(name);
    const encoding = bytes && utf16Of(bytes);
    return encoding === undefined ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));
  }

  text(name: string): string | undefined {
    const bytes = this.utf8(name);
    return bytes && new TextDecoder().decode(bytes);
  }

  /** fflate unpacks no more of a part than the directory says, so that a wrong size costs no memory. */
  #count(part: Part): void {
    if (this.#counted.has(part)) return;
    this.#counted.add(part);
    this.#unpackedBytes += part.size;
    if (this.#unpackedBytes > this.#maxUnpackedBytes) throw this.#tooLarge();
  }

  #unzip(
    filter: (entry: { readonly name: string; readonly originalSize: number }) => boolean,
  ): Record<string, Uint8Array> {
    try {
      return unzipSync(this.#bytes, { filter });
    } catch (cause) {
      throw unreadable("damaged", "the file is damaged, or not of the format that its name says", { cause });
    }
  }

  #tooLarge(): Error {
    return unreadable(
      "too_large",
      `it unpacks to more than ${Math.floor(this.#maxUnpackedBytes / (1024 * 1024))} MiB`,
    );
  }
}

/** The name of a part that another one names by its place from a folder, which is empty or ends with `/`. */
export function resolvePart(folder: string, target: string): string {
  if (target.startsWith("/")) return target.slice(1);
  const names = folder.split("/").slice(0, -1);
  for (const name of target.split("/")) {
    if (name === "..") names.pop();
    else if (name !== ".") names.push(name);
  }
  return names.join("/");
}

/** A path of an address without its escapes; as it is where they are wrong. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function toKey(name: string): string {
  return name.replaceAll("\\", "/").toLowerCase();
}

/** Whether a part is encrypted, by the directory at the end of the file (APPNOTE.TXT, 4.3.12). */
export function hasPassword(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isAt = (at: number, signature: number) =>
    at >= 0 && at + 46 <= view.byteLength && view.getUint32(at, true) === signature;
  let end = view.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50 && end > view.byteLength - 66_000) end--;
  if (end < 0) return false;
  let at = view.getUint32(end + 16, true);
  while (isAt(at, 0x02014b50)) {
    if ((view.getUint16(at + 8, true) & 1) === 1) return true;
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return false;
}

/** Smaller parts are unpacked once. */
const KEPT_BYTES = 1024 * 1024;
const MANY_PARTS = 1_000;
/** The most bytes of small parts that are unpacked together. */
const PRELOADED_BYTES = 32 * 1024 * 1024;

function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}
