/** What HTML says of itself and of its elements. */
import type { DefaultTreeAdapterMap } from "parse5";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { oneLine } from "../../basics.ts";

export type Node = DefaultTreeAdapterMap["node"];
export type Element = DefaultTreeAdapterMap["element"];

/** What is not shown by a browser, or has no text. */
const SKIPPED = new Set([
  "script",
  "style",
  "template",
  "noscript",
  "head",
  "title",
  "datalist",
  "rp",
]);
export const BLOCKS = new Set(
  ("address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main nav ol optgroup option p pre search section summary table td th tr ul")
    .split(" "),
);
export const LOST: Readonly<Record<string, string>> = {
  canvas: "drawing",
  object: "embedded object",
  embed: "embedded object",
  applet: "embedded object",
};

/** The encoding that the head of HTML declares; what stands in comments, scripts and the like is none. */
export function metaEncoding(head: string): string | undefined {
  const tags = head.matchAll(
    /<!--(?:[^]*?-->|[^]*)|<(script|style|title|noscript)\b(?:[^]*?<\/\1\b|[^]*)|<meta\b([^>]*)>|<body\b[^]*/gi,
  );
  for (const [, , attributes = ""] of tags) {
    const values = new Map(
      attributes.slice(0, 1_000).matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g).map((
        [, name = "", ...value],
      ) => [name.toLowerCase(), value.join("")] as const),
    );
    const isType = values.get("http-equiv")?.trim().toLowerCase() === "content-type";
    const inContent = /charset\s*=\s*["']?([\w.:-]+)/i.exec(isType ? values.get("content") ?? "" : "")?.[1];
    const declared = values.get("charset")?.trim() ?? inContent;
    if (declared !== undefined) return declared;
  }
  return undefined;
}

/** The elements that have no content in any form of HTML. */
const EMPTY = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** XHTML in the syntax of HTML: elements that end where they begin have an end tag, and sections of plain text are escaped. */
export function toHtmlSyntax(text: string): string {
  if (!/^\s*<\?xml|<html\s[^>]*xmlns/i.test(text.slice(0, 2_000))) return text;
  return text.replace(
    /<!\[CDATA\[([^]*?)(?:\]\]>|$)/g,
    (_, plain: string) => plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
  )
    .replace(
      /<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi,
      (tag, name: string, attributes: string) => EMPTY.test(name) ? tag : `<${name}${attributes}></${name}>`,
    );
}

export function elementsBelow(node: Node): Element[] {
  return "childNodes" in node ? node.childNodes.filter((child): child is Element => "tagName" in child) : [];
}

/** The rows of a table, in all of its groups, each with its cells. */
function cellsOf(table: Element): Element[][] {
  return elementsBelow(table).flatMap((child) =>
    child.tagName === "tr"
      ? [elementsBelow(child)]
      : /^t(?:head|body|foot)$/.test(child.tagName)
      ? cellsOf(child)
      : []
  );
}

/** Whether a table only places what it contains, so that it has no columns that mean something. */
export function isLayout(table: Element): boolean {
  const isTable = ({ tagName }: Element) => tagName === "table";
  return /^(?:presentation|none)$/.test(attribute(table, "role") ?? "") && hasBelow(table, isTable) ||
    hasBelow(table, (child) => isTable(child) && hasBelow(child, isTable)) ||
    cellsOf(table).every((row) => row.filter(isFilled).length < 2) &&
      hasBelow(table, ({ tagName }) => /^(?:table|h[1-6]|ul|ol|pre)$/.test(tagName));
}

function isFilled(cell: Element): boolean {
  return cell.childNodes.some((node) => "tagName" in node || "value" in node && node.value.trim() !== "");
}

/** Whether an element contains one that fits, at the most 200 levels below. */
function hasBelow(element: Element, fits: (child: Element) => boolean, depth = 200): boolean {
  return depth > 0 &&
    elementsBelow(element).some((child) => fits(child) || hasBelow(child, fits, depth - 1));
}

/** Whether nothing of an element is shown; the title of a drawing is. */
export function isSkipped(element: Element): boolean {
  const { tagName, namespaceURI } = element;
  return SKIPPED.has(tagName) && !(tagName === "title" && /svg$/.test(namespaceURI)) || isHidden(element);
}

/** Whether a browser would leave an element out. */
export function isHidden(element: Element): boolean {
  return attribute(element, "hidden") !== undefined ||
    /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribute(element, "style") ?? "");
}

export function spanOf(cell: Element, name: "colspan" | "rowspan", max: number): number {
  const span = Math.trunc(Number(attribute(cell, name)));
  return span >= 1 ? Math.min(span, max) : 1;
}

/** A line end of the file is a space. */
export function spaces(text: string): string {
  return text.replace(/\s+/g, " ");
}

export function link(element: Element, name: string, words: string): DocumentElement {
  const url = attribute(element, name) ?? "";
  return { category: "link", content: { text: words === "" ? url : words, url } };
}

export function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attribute) => attribute.name === name)?.value;
}

/** Collapses spaces; keeps one line break of several. */
export function collapseLines(text: string): string {
  return text.split("\n").map(oneLine).filter((line) => line !== "").join(
    "\n",
  );
}
