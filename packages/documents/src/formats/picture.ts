/** A picture, with its size as its first bytes say it, and itself unless it is too large. */
import { imageSize } from "image-size";
import type { ElementContents } from "@a2c-smcp/sdk";
import type { ZipParts } from "./zip.ts";

/** The largest picture that is sent along. */
const MAX_PICTURE_BYTES = 2 * 1024 * 1024;
/** The most pixels of a side of a picture that is sent along: services of models refuse larger ones, with the whole request. */
const MAX_SIDE = 8_000;
/** The most bytes of pictures of a page that are sent along. */
export const PAGE_PICTURE_BYTES = 6 * 1024 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  svg: "image/svg+xml",
  tif: "image/tiff",
  ico: "image/x-icon",
};

/** The size of a picture in pixels, and its kind, such as `png`; `undefined` for one that is damaged or of an unknown kind. */
export function pictureSizeOf(bytes: Uint8Array) {
  try {
    const { width, height, type = "unknown" } = imageSize(bytes);
    return { width, height, type };
  } catch {
    return undefined;
  }
}

/** @param bytes their number for a picture that is too large to be sent along */
export function pictureOf(
  bytes: Uint8Array | number,
  { description, type }: { readonly description: string; readonly type: string },
): ElementContents["image"] {
  const [read, sizeBytes] = typeof bytes === "number" ? [undefined, bytes] : [bytes, bytes.length];
  const size = read && pictureSizeOf(read);
  const kind = size?.type ?? type;
  const mimeType = MEDIA_TYPES[kind] ?? `image/${kind}`;
  const isWide = size !== undefined && Math.max(size.width, size.height) > MAX_SIDE && size.type !== "svg";
  const isSent = read !== undefined && sizeBytes <= MAX_PICTURE_BYTES && !isWide;
  const told = isSent || sizeBytes === 0
    ? ""
    : ` (${Math.ceil(sizeBytes / 1024)} KiB, which is too large to be sent along)`;
  return {
    description: `${description}${told}`,
    mime_type: mimeType,
    ...(size === undefined ? {} : { width: size.width, height: size.height }),
    ...(isSent ? { url: `data:${mimeType};base64,${read.toBase64()}` } : {}),
  };
}

/** The pictures of a document, with their bytes while there is room. */
export class PictureRoom {
  /** Formats that read pages one by one set it for each. */
  leftBytes = 8 * PAGE_PICTURE_BYTES;
  readonly #freeBytes: number;

  /** @param freeBytes pictures of so many bytes take no room */
  constructor({ freeBytes = 0 } = {}) {
    this.#freeBytes = freeBytes;
  }

  /** A picture that is a part of a zip file. */
  partOf(zip: ZipParts, part: string, description: string): ElementContents["image"] {
    const type = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
    return this.take(zip.sizeOf(part), () => zip.bytes(part), { description, type });
  }

  take(
    size: number,
    read: () => Uint8Array | undefined,
    said: Parameters<typeof pictureOf>[1],
  ): ElementContents["image"] {
    const isFree = size <= this.#freeBytes;
    const isSent = isFree || size <= Math.min(MAX_PICTURE_BYTES, this.leftBytes);
    if (isSent && !isFree) this.leftBytes -= size;
    return pictureOf((isSent ? read() : undefined) ?? size, said);
  }
}
