/** A picture, with its size as its first bytes say it, and itself when it is small. */
import { imageSize } from "image-size";
import type { ElementContents } from "../../protocol/dpe_content.ts";

/** The largest picture that is sent along. */
export const MAX_PICTURE_BYTES = 256 * 1024;

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

/** @param type its kind, where its bytes do not say it; `undefined` bytes are those of a picture that is too large */
export function pictureOf(
  bytes: Uint8Array | undefined,
  { description, type }: { readonly description: string; readonly type: string },
): ElementContents["image"] {
  const size = bytes && pictureSizeOf(bytes);
  const kind = size?.type ?? type;
  const mimeType = MEDIA_TYPES[kind] ?? `image/${kind}`;
  const isSent = bytes !== undefined && bytes.length <= MAX_PICTURE_BYTES;
  return {
    description,
    mime_type: mimeType,
    ...(size === undefined ? {} : { width: size.width, height: size.height }),
    ...(isSent ? { url: `data:${mimeType};base64,${bytes.toBase64()}` } : {}),
  };
}
