/** Answers as text for people: tools, configuration, Desktop, Finder, results. Pure: values in, text out. */
import type { GetComputerConfigRet, MCPServerConfig } from "../../protocol/config.ts";
import type { Desktop } from "../../protocol/desktop.ts";
import { isRecord, parseJson } from "../../json.ts";
import { indentJson } from "./indent_json.ts";
import type { SMCPTool } from "../../protocol/tools.ts";
import { countOf } from "../count.ts";
import type { DocumentBranch, PageBranch } from "./document_branch.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { drawColumns } from "../../terminal/shapes.ts";
import { printableLine } from "../../terminal/safe_text.ts";

/** A line of name and parameters for each tool, its description below. */
export function toolsText(tools: readonly SMCPTool[]): string {
  if (tools.length === 0) return "no tools";
  return tools.map(({ name, description, params_schema }) => {
    const lines = description.trim().split("\n").filter((line) => line !== "").map((line) => `    ${line}`);
    return [printableLine(`${name}(${parametersText(params_schema)})`), ...lines].join("\n");
  }).join("\n");
}

/** `message: string, times?: integer` */
export function parametersText(schema: Readonly<Record<string, unknown>>): string {
  const { properties, required } = schema;
  if (!isRecord(properties)) return "";
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, property]) => {
    const type = isRecord(property) ? property["type"] : undefined;
    return `${name}${isRequired(name) ? "" : "?"}${typeof type === "string" ? `: ${type}` : ""}`;
  }).join(", ");
}

/** An MCP server a line, then the inputs. */
export function configText(
  { servers, inputs }: GetComputerConfigRet,
  { strong, faint }: Palette = PLAIN,
): string {
  const rows = Object.entries(servers).map(([name, server]) => [
    name,
    server.type,
    server.disabled ? "disabled" : "enabled",
    addressOf(server),
  ]);
  const asked = (inputs ?? []).map(({ id, type, description }) => [`input ${id}`, type, description]);
  const shown = rows.length === 0
    ? "no MCP servers"
    : drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
  return [shown, drawColumns(asked, { paints: [strong] })].filter((text) => text !== "")
    .join("\n\n");
}

function addressOf(server: MCPServerConfig): string {
  if (server.type !== "stdio") return server.server_parameters.url;
  const { command, args } = server.server_parameters;
  return [command, ...args].join(" ");
}

/** The windows, a rule between each two. */
export function desktopText(desktops: readonly Desktop[]): string {
  return desktops.length === 0 ? "no windows" : desktops.join(`\n\n${"─".repeat(40)}\n\n`);
}

/** Two lines a document, a line for each page and element that was read, then which of how many these are. */
export function catalogueText(
  catalogue: { readonly documents: readonly DocumentBranch[]; readonly totalCount: number },
  { offset }: { readonly offset: number },
): string {
  const { documents, totalCount } = catalogue;
  if (documents.length === 0) return totalCount === 0 ? "no documents" : `none of ${totalCount} documents`;
  const entries = documents.flatMap(documentLines).map(printableLine);
  return [...entries, `${offset + 1}–${offset + documents.length} of ${totalCount}`].join("\n");
}

function documentLines({ document, pages = [], failure }: DocumentBranch): string[] {
  const { title, file_type, page_count, uri, keywords = [] } = document;
  const tags = keywords.length === 0 ? "" : `  [${keywords.join(", ")}]`;
  return [
    `${title} (${file_type}, ${countOf(page_count, "page")})${tags}`,
    `    ${uri}`,
    ...failureLine(failure).map((line) => `    ${line}`),
    ...pages.flatMap(pageLines).map((line) => `    ${line}`),
  ];
}

function pageLines({ page, elements = [], failure }: PageBranch): string[] {
  const { page_index, title, element_count } = page;
  return [
    `page ${page_index}: ${title} (${countOf(element_count, "element")})`,
    ...failureLine(failure).map((line) => `    ${line}`),
    ...elements.map(({ category, element_id, summary = "" }) =>
      `    [${category}] ${element_id}${summary === "" ? "" : `: ${summary}`}`
    ),
  ];
}

function failureLine(failure: string | undefined): string[] {
  return failure === undefined ? [] : [`cannot be read: ${failure}`];
}

/** The texts as they are; anything else by what it is. */
export function contentsText(
  result: { readonly content: readonly unknown[]; readonly structuredContent?: unknown },
): string {
  if (result.content.length > 0) return result.content.map(contentText).join("\n");
  return isRecord(result.structuredContent) || Array.isArray(result.structuredContent)
    ? JSON.stringify(result.structuredContent, null, 2)
    : "";
}

/** What was read, as people want to see it: where the URI asked for Markdown or text, that, and no JSON around it. */
export function resourceText(contents: readonly unknown[]): string {
  return contents.map((content) => renderedText(content) ?? contentText(content)).join("\n");
}

/** The same for a terminal: JSON is indented. */
export function readableResourceText(contents: readonly unknown[]): string {
  return contents.map((content) => renderedText(content) ?? indentedText(content) ?? contentText(content))
    .join("\n");
}

function indentedText(content: unknown): string | undefined {
  const text = isRecord(content) ? content["text"] : undefined;
  if (typeof text !== "string") return undefined;
  const value = parseJson(text);
  return isRecord(value) || Array.isArray(value) ? indentJson(text) : undefined;
}

function renderedText(content: unknown): string | undefined {
  const text = isRecord(content) ? content["text"] : undefined;
  const value = typeof text === "string" ? parseJson(text) : undefined;
  if (!isRecord(value)) return undefined;
  const { content_markdown: markdown, content_text: plain } = value;
  return [markdown, plain].find((rendered) => typeof rendered === "string");
}

/** An item of a tool result, or a piece of a resource, of whatever shape. */
function contentText(content: unknown): string {
  if (!isRecord(content)) return JSON.stringify(content) ?? "";
  const { type, text, data, blob, uri, mimeType, resource, item } = content;
  if (typeof text === "string") return text;
  const base64 = data ?? blob;
  if (typeof base64 === "string") {
    const what = `${type ?? uri ?? "blob"}: ${mimeType ?? "binary"}`;
    return `[${printableLine(what)}, ${decodedBytes(base64)} bytes]`;
  }
  if (isRecord(resource)) return contentText(resource);
  if (type === "unknown") return JSON.stringify(item) ?? "";
  return typeof uri === "string" ? `[${printableLine(uri)}]` : JSON.stringify(content);
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length - padding) * 3 / 4);
}
