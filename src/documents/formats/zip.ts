/** Zip files, as office formats are. */
import { unzipSync } from "fflate";
import { type ParseLimits, unreadable } from "./format.ts";

/** The first bytes of an OLE container: an office file with a password, or of an old binary format. */
const OLE = [0xd0, 0xcf, 0x11, 0xe0];

/** The parts of a zip file, unpacked when they are read. */
export class ZipParts {
  readonly #bytes: Uint8Array;
  readonly #maxUnpackedBytes: number;
  readonly #sizes = new Map<string, number>();
  readonly #read = new Map<string, Uint8Array>();
  #unpacked = 0;

  /** Throws a DocumentError when the file is no zip file, or unpacks to more than the limit. */
  constructor(bytes: Uint8Array, { maxUnpackedBytes }: Pick<ParseLimits, "maxUnpackedBytes">) {
    if (OLE.every((byte, index) => bytes[index] === byte)) {
      throw unreadable(
        "encrypted",
        "the file has a password, or is of a format before 2007; save it in a newer format without a password",
      );
    }
    this.#bytes = bytes;
    this.#maxUnpackedBytes = maxUnpackedBytes;
    this.#unzip(({ name, originalSize }) => {
      this.#sizes.set(name, originalSize);
      return false;
    });
  }

  /** The names of the parts. */
  get names(): Iterable<string> {
    return this.#sizes.keys();
  }

  has(name: string): boolean {
    return this.#sizes.has(name);
  }

  /** The bytes of a part; `undefined` when there is none. They are kept only for small parts. */
  bytes(name: string): Uint8Array | undefined {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const size = this.#sizes.get(name);
    if (size === undefined) return undefined;
    this.#unpacked += size;
    if (size > this.#maxUnpackedBytes || this.#unpacked > this.#maxUnpackedBytes) throw this.#tooLarge();
    const part = this.#unzip((entry) => entry.name === name)[name];
    if (part === undefined) return undefined;
    if (part.length > this.#maxUnpackedBytes) throw this.#tooLarge();
    if (part.length < KEPT_BYTES) {
      this.#read.set(name, part);
      this.#unpacked -= size;
    }
    return part;
  }

  /** The text of a part. */
  text(name: string): string | undefined {
    const bytes = this.bytes(name);
    return bytes && new TextDecoder().decode(bytes);
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

/** Parts of this size are read once. */
const KEPT_BYTES = 1024 * 1024;
