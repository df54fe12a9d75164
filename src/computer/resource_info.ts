/** A listed resource as `client:get_resources` shows it. */
import { isRecord } from "../protocol/errors.ts";
import type { ResourceInfo } from "../protocol/resources.ts";

/**
 * Translates an entry of `resources/list`: `mimeType` is spelled `mime_type` on this wire, and what is null or of a
 * wrong type is left out, because strict peers refuse it. `undefined` for an entry without a URI.
 */
export function toResourceInfo(entry: unknown): ResourceInfo | undefined {
  if (!isRecord(entry) || typeof entry["uri"] !== "string") return undefined;
  const { uri, name, description, mimeType, size, annotations, _meta, ...rest } = entry;
  return {
    ...rest,
    uri,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mime_type: mimeType } : {}),
    ...(typeof size === "number" ? { size } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}
