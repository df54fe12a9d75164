/** A picture, with its size as its first bytes say it, and itself unless it is too large. */
import { imageSize } from "image-size";
import type { ElementContents } from "@a2c-smcp/sdk";

/** The largest picture that is sent along. */
export const MAX_PICTURE_BYTES = 2 * 1024 * 1024;

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
  const isSent = read !== undefined && sizeBytes <= MAX_PICTURE_BYTES;
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
