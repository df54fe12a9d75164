/** Results as models take them: texts and pictures. */
import { toFence, toSeenUri, toSeenWord } from "../../text/safe_text.ts";
import type { McpContent, McpToolResult } from "../../local_tools/mcp.ts";
import type { ResourceContents } from "../../protocol/resources.ts";
import type { ResourceLinkItem } from "../../protocol/tools.ts";
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
  switch (item.type) {
    case "text":
      return text(item.text);
    case "image":
    case "audio":
      return toPicture({ ...item, what: item.type });
    case "resource":
      return toEmbedded(item.resource);
    case "resource_link":
      return text(describeLink(item));
  }
}

function toEmbedded({ uri, mimeType, text: inner, blob }: ResourceContents): ModelContent {
  if (inner !== undefined) return text(`Resource ${toSeenUri(uri)}:\n\n${toFence(inner)}`);
  return toPicture({ data: blob, mimeType, what: `resource ${toSeenUri(uri)}` });
}

function toPicture(
  { data, mimeType, what }: {
    readonly data: string | undefined;
    readonly mimeType?: string | undefined;
    readonly what: string;
  },
): ModelContent {
  if (data !== undefined && mimeType !== undefined && PICTURES.has(mimeType)) {
    return { type: "image", data, mimeType };
  }
  return text(`[${what}${mimeType === undefined ? "" : ` (${toSeenWord(mimeType)})`}: cannot be shown here]`);
}

function describeLink({ uri, name = uri, title = name, mimeType, description }: ResourceLinkItem): string {
  const kind = mimeType === undefined ? "" : ` (${toSeenWord(mimeType)})`;
  const about = description === undefined ? "" : `. ${toSeenWord(description)}`;
  return `Link to ${toSeenWord(title)}: ${toSeenUri(uri)}${kind}${about}`;
}

function text(value: string): ModelContent {
  return { type: "text", text: value };
}
