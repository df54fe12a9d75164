/** The CMaps of Chinese, Japanese and Korean fonts. PDF.js asks for them by name when a file leaves them out. */
import { ZipParts } from "../zip.ts";

/** Gives PDF.js what a file needs and does not contain. Only CMaps are at hand, since nothing is drawn. */
export class CMapFactory {
  #archive: Promise<ZipParts> | undefined;

  /** Throws a RangeError for what is not at hand: PDF.js reads on without it. */
  async fetch({ filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
    const archive = await (this.#archive ??= openArchive());
    const cmap = archive.bytes(filename);
    if (cmap === undefined) throw new RangeError(`Cannot load "${filename}": not part of this program`);
    // The archive keeps small parts, and PDF.js may transfer what it is given.
    return cmap.slice();
  }
}

async function openArchive(): Promise<ZipParts> {
  // Most files do not need this large module.
  const { CMAPS_ZIP } = await import("./cmaps_zip.ts");
  const zip = Uint8Array.from(atob(CMAPS_ZIP), (letter) => letter.charCodeAt(0));
  return new ZipParts(zip, { maxUnpackedBytes: Infinity });
}
