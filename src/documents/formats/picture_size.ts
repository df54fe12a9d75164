/** The size of a picture, read from its first bytes. */
import { imageSize } from "image-size";

/** The size of a picture in pixels, and its kind, such as `png`. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
  readonly type: string;
}

/** Reads the size of a picture; `undefined` for one that is damaged or of an unknown kind. */
export function pictureSizeOf(bytes: Uint8Array): PictureSize | undefined {
  try {
    const { width, height, type = "unknown" } = imageSize(bytes);
    return { width, height, type };
  } catch {
    return undefined;
  }
}
