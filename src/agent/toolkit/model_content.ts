/** Results as models take them: texts and pictures. */
import { isRecord } from "../../json/json.ts";
import { toFence, toSeenUri, toSeenWord } from "../../text/safe_text.ts";
import type { McpContent, McpToolResult } from "../../local_tools/mcp.ts";
import { PICTURES } from "../../local_tools/pictures.ts";

/** A text, or a picture in base64. */
export type ModelContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

/**
 * What a model is shown of a result. Pictures stay pictures; embedded texts and links become texts, and what a model
 * cannot take, such as sounds, is told. One item that a toolkit does not know would cost the whole result in some of them.
 */
export function toModelContent({ content, structuredContent }: McpToolResult): ModelContent[] {
  if (content.length > 0) return content.map(toItem);
  return [
    text(structuredContent === undefined ? "Done, without a result" : JSON.stringify(structuredContent)),
  ];
}

function toItem(item: McpContent): ModelContent {
  const { type, data, mimeType, resource } = item;
  switch (type) {
    case "text":
      return text(String(item["text"]));
    case "image":
    case "audio":
      return toPicture({ data, mimeType, what: type });
    case "resource":
      return isRecord(resource) ? toEmbedded(resource) : text(JSON.stringify(item));
    case "resource_link":
      return text(describeLink(item));
    default:
      return text(JSON.stringify(item));
  }
}

function toEmbedded({ uri, mimeType, text: inner, blob }: Readonly<Record<string, unknown>>): ModelContent {
  if (typeof inner === "string") return text(`Resource ${toSeenUri(String(uri))}:\n\n${toFence(inner)}`);
  return toPicture({ data: blob, mimeType, what: `resource ${toSeenUri(String(uri))}` });
}

function toPicture(
  { data, mimeType, what }: { readonly data: unknown; readonly mimeType: unknown; readonly what: string },
): ModelContent {
  if (typeof data === "string" && typeof mimeType === "string" && PICTURES.has(mimeType)) {
    return { type: "image", data, mimeType };
  }
  return text(
    `[${what}${typeof mimeType === "string" ? ` (${toSeenWord(mimeType)})` : ""}: cannot be shown here]`,
  );
}

function describeLink({ name, title = name, uri, mimeType, description }: McpContent): string {
  const kind = typeof mimeType === "string" ? ` (${toSeenWord(mimeType)})` : "";
  const about = typeof description === "string" ? `. ${toSeenWord(description)}` : "";
  return `Link to ${toSeenWord(String(title))}: ${toSeenUri(String(uri))}${kind}${about}`;
}

function text(value: string): ModelContent {
  return { type: "text", text: value };
}
