/** Reads a tool result of any peer. The tool has already run, so as much of the result as possible is kept. */
import { isGiven, isRecord } from "../json/json.ts";
import { type AnswerReader, ignoreFlaws, type OnFlaw, toBody, withoutNulls } from "./flaws.ts";
import { unreadable } from "./errors.ts";
import type { CallToolResult, ContentItem, ToolResultMeta } from "./tools.ts";

/** The media type of an image or audio item without one. */
const UNKNOWN_MEDIA_TYPE = "application/octet-stream";

/**
 * Reads the answer to `client:tool_call`. An invalid item is kept unchanged in an item of type `unknown`.
 *
 * @throws {SmcpError} 400 when the answer is not an object, or has no member of a tool result.
 */
export const parseCallToolResult: AnswerReader<CallToolResult> = (answer, onFlaw = ignoreFlaws) => {
  const what = "CallToolResult";
  const { content, structuredContent, isError, meta, _meta, ...rest } = toBody(what, answer);
  // The reference Server relays an error that it does not know as an empty object.
  if (!isGiven(content) && !isGiven(structuredContent) && !isGiven(isError)) {
    throw unreadable(what, "content", "expected content, structuredContent or isError");
  }
  const own = readMeta(meta ?? _meta, onFlaw);
  return {
    ...rest,
    content: readContent(content, onFlaw),
    ...(isGiven(structuredContent) ? { structuredContent } : {}),
    isError: readIsError(isError, onFlaw),
    ...(own === undefined ? {} : { meta: own }),
  };
};

function readContent(content: unknown, onFlaw: OnFlaw): ContentItem[] {
  if (Array.isArray(content)) return content.map((item, index) => readContentItem(item, { index, onFlaw }));
  onFlaw("content", "not a list");
  return isGiven(content) ? [readContentItem(content, { index: 0, onFlaw })] : [];
}

/** A value that is not a boolean counts as true unless it is falsy. */
function readIsError(isError: unknown, onFlaw: OnFlaw): boolean {
  if (typeof isError === "boolean") return isError;
  if (isGiven(isError)) onFlaw("isError", "not a boolean");
  return Boolean(isError);
}

function readMeta(meta: unknown, onFlaw: OnFlaw): ToolResultMeta | undefined {
  if (isRecord(meta)) return meta;
  if (isGiven(meta)) onFlaw("meta", "left out, not an object");
  return undefined;
}

/** Some peers spell an item's metadata `meta`; it becomes `_meta`, as in MCP. */
export function readContentItem(
  item: unknown,
  { index, onFlaw }: { readonly index: number; readonly onFlaw: OnFlaw },
): ContentItem {
  const tell = (what: string) => onFlaw(`content.${index}`, what);
  const known = isRecord(item) ? readKnownItem(withOneMeta(withoutNulls(item)), tell) : undefined;
  if (known !== undefined) return known;
  tell("kept as type unknown, invalid or of an unknown type");
  return { type: "unknown", item };
}

function readKnownItem(
  item: Readonly<Record<string, unknown>>,
  tell: (what: string) => void,
): ContentItem | undefined {
  // Every member that a type requires is checked before the cast to that type.
  switch (item["type"]) {
    case "text":
      return typeof item["text"] === "string" ? item as unknown as ContentItem : undefined;
    case "image":
    case "audio":
      if (typeof item["data"] !== "string") return undefined;
      if (typeof item["mimeType"] === "string") return item as unknown as ContentItem;
      tell("repaired, no mimeType");
      return { ...item, mimeType: UNKNOWN_MEDIA_TYPE } as unknown as ContentItem;
    case "resource_link":
      return typeof item["uri"] === "string" ? item as unknown as ContentItem : undefined;
    case "resource": {
      const resource = isRecord(item["resource"]) ? withoutNulls(item["resource"]) : {};
      if (typeof resource["uri"] !== "string" || !hasContents(resource)) return undefined;
      return { ...item, resource } as unknown as ContentItem;
    }
    default:
      return undefined;
  }
}

function hasContents({ text, blob }: Readonly<Record<string, unknown>>): boolean {
  return (text === undefined || typeof text === "string") && (blob === undefined || typeof blob === "string");
}

function withOneMeta(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!("meta" in item) && isRecord(item["_meta"] ?? {}) && isRecord(item["annotations"] ?? {})) return item;
  const { meta, _meta, annotations, ...rest } = item;
  // Peers in Python write the item's own metadata as `meta`, and the handle of a large binary beside it as `_meta`.
  const both = [meta, _meta].filter(isRecord);
  return {
    ...rest,
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(both.length === 0 ? {} : { _meta: Object.assign({}, ...both) }),
  };
}
