/** A listed resource as `client:get_resources` shows it. */
import { isRecord } from "../../json.ts";
import type { ResourceIcon, ResourceInfo } from "../../protocol/resources.ts";

/**
 * Translates an entry of `resources/list`: `mimeType` is spelled `mime_type` on this wire, and what is null or of a
 * wrong type is left out, because strict peers refuse it. `undefined` for an entry without a URI.
 */
export function toResourceInfo(entry: unknown): ResourceInfo | undefined {
  if (!isRecord(entry) || typeof entry["uri"] !== "string") return undefined;
  const { uri, size } = entry;
  return { ...toResourceFields(entry), uri, ...(typeof size === "number" ? { size } : {}) };
}

/** What the entries of `resources/list` and `resources/templates/list` have in common, and whatever else they hold. */
export function toResourceFields(entry: Readonly<Record<string, unknown>>): Omit<ResourceInfo, "uri"> & {
  readonly uri?: unknown;
} {
  const { name, title, description, mimeType, size: _size, icons, annotations, _meta, ...rest } = entry;
  return {
    ...rest,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mime_type: mimeType } : {}),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

function isIcon(icon: unknown): icon is ResourceIcon {
  return isRecord(icon) && typeof icon["src"] === "string";
}
