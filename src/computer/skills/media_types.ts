/** Media types by extension: the same table on every Computer, as other SDKs have it. */
import { BINARY_TYPE } from "../../protocol/skills.ts";

const TYPES: ReadonlyMap<string, string> = new Map(Object.entries({
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".txt": "text/plain",
  ".json": "application/json",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".toml": "application/toml",
  ".rst": "text/x-rst",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".bmp": "image/bmp",
  ".ico": "image/vnd.microsoft.icon",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".gz": "application/gzip",
  ".tar": "application/x-tar",
  ".wasm": "application/wasm",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
  ".otf": "font/otf",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
}));

/**
 * The media type of a file by its extension in any case, without a folder before its name. Scripts, such as `.py` and
 * `.sh`, are no text here, so they are fetched as bytes.
 */
export function mediaTypeOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return TYPES.get(dot > 0 ? name.slice(dot).toLowerCase() : "") ?? BINARY_TYPE;
}
