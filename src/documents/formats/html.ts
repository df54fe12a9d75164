/** HTML. Scripts and styles are left out, and nothing is fetched. */
import { type DefaultTreeAdapterMap, parse } from "parse5";
import type { FormField, ListItem, TableCell } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";
import { declaredEncoding, decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "./format.ts";
import { headingsOf, openingOf, toSections } from "./sections.ts";

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

/** The longest `data:` URL of a picture that is kept. */
const MAX_DATA_URL_LENGTH = 350_000;
/** The most columns that one cell of a table may cover. */
const MAX_SPAN = 100;
/** The most rows that one cell of a table may cover. */
const MAX_ROW_SPAN = 65_534;
/** The most places in all tables that cells of rows above cover. */
const MAX_COVERED = 1_000_000;

/** Opens an HTML file. Its pages are the sections under its top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const { text, encoding, isGuess } = decodeText(
    bytes,
    (head) => metaEncoding(head) ?? declaredEncoding(head),
  );
  const reading = readHtml(text, limits);
  const { elements, title, description, keywords } = reading;
  const pages = toSections(elements, title ?? fileName);
  const losses = [...reading.losses];
  if (isGuess) losses.push(`The encoding "${encoding}" is a guess; some characters may be wrong`);
  return {
    facts: {
      title: title ?? headingsOf(elements, 1)[0],
      pageCount: pages.length,
      pageTitles: pages.map((page) => page.title),
      headings: headingsOf(elements),
      keywords,
      opening: [...description === undefined ? [] : [description], openingOf(elements)].join("\n"),
      losses,
    },
    page: (index) => pages[index] ?? { title: "", elements: [] },
  };
}

/** The encoding that the head of HTML declares; what stands in comments, scripts and the like is none. */
function metaEncoding(head: string): string | undefined {
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

/** What HTML contains. */
export interface HtmlReading {
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly keywords: readonly string[];
  /** In reading order, without ids. */
  readonly elements: readonly DocumentElement[];
  readonly losses: readonly string[];
}

/** Reads HTML, also of other formats that contain it. */
export function readHtml(text: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): HtmlReading {
  const reader = new HtmlReader(maxDepth);
  reader.read(parse(text));
  return reader;
}

/** What the text of a node consists of, beside its words. */
const SKIPPED = new Set(["script", "style", "template", "noscript", "head", "title"]);
const BLOCKS = new Set(
  ("address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form header " +
    "hgroup html legend li main nav p search section summary").split(" "),
);
const LOST: Readonly<Record<string, string>> = {
  canvas: "drawing",
  object: "embedded object",
  embed: "embedded object",
  applet: "embedded object",
};

class HtmlReader implements HtmlReading {
  readonly elements: DocumentElement[] = [];
  readonly keywords: string[] = [];
  title: string | undefined;
  description: string | undefined;
  readonly #maxDepth: number;
  readonly #lost = new Map<string, number>();
  #covered = 0;
  #words = "";
  #links: DocumentElement[] = [];

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  get losses(): string[] {
    return [...this.#lost].map(([what, count]) =>
      `${count} ${what}${count === 1 ? " is" : "s are"} not shown`
    );
  }

  read(document: Node): void {
    this.#visit(document, 0);
    this.#endText();
  }

  #visit(node: Node, depth: number): void {
    if (depth > this.#maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#maxDepth} levels`);
    }
    if (node.nodeName === "#text" && "value" in node) this.#words += spaces(node.value);
    else if ("tagName" in node) this.#visitElement(node, depth);
    else this.#visitChildren(node, depth);
  }

  #visitChildren(node: Node, depth: number): void {
    if (!("childNodes" in node)) return;
    for (const child of node.childNodes) this.#visit(child, depth + 1);
  }

  #visitElement(element: Element, depth: number): void {
    const { tagName } = element;
    if (tagName === "head") return this.#readHead(element);
    if (SKIPPED.has(tagName) || isHidden(element)) return;
    const lost = LOST[tagName];
    if (lost !== undefined) this.#lost.set(lost, (this.#lost.get(lost) ?? 0) + 1);
    const made = this.#make(element, depth);
    if (made !== undefined) {
      this.#endText();
      this.elements.push(...made);
      return;
    }
    if (tagName === "br") {
      this.#words += "\n";
      return;
    }
    const isBlock = BLOCKS.has(tagName);
    if (isBlock) this.#endText();
    const start = this.#words.length;
    this.#visitChildren(element, depth);
    if (tagName === "a") this.#addLink(element, this.#words.slice(start));
    if (isBlock) this.#endText();
  }

  /** The elements of a node that is a unit; `undefined` for one that contains others. */
  #make(element: Element, depth: number): DocumentElement[] | undefined {
    const { tagName } = element;
    const level = /^h([1-6])$/.exec(tagName)?.[1];
    if (level !== undefined) {
      const text = collapse(this.#textOf(element, depth));
      return text === "" ? [] : [{ category: "heading", content: { level: Number(level), text } }];
    }
    switch (tagName) {
      case "ul":
      case "ol":
      case "menu":
        return this.#list(element, depth);
      case "table":
        return this.#table(element, depth);
      case "pre":
      case "listing":
      case "textarea":
        return [this.#code(element, depth)];
      case "img":
      case "svg":
        return this.#image(element, depth);
      case "math":
        return [{ category: "formula", content: { expression: this.#formula(element, depth) } }];
      case "hr":
        return [{ category: "separator", content: { style: "line" } }];
      case "audio":
      case "video":
        return [this.#media(element, depth)];
      case "iframe":
        return attribute(element, "src") === undefined
          ? []
          : [link(element, "src", attribute(element, "title") ?? "")];
      case "form":
        return undefined;
      case "input":
      case "select":
        return this.#field(element, depth);
      default:
        return undefined;
    }
  }

  #readHead(head: Element): void {
    for (const node of head.childNodes) {
      if (!("tagName" in node)) continue;
      if (node.tagName === "title") this.title = collapse(this.#wordsOf(node)) || undefined;
      if (node.tagName !== "meta") continue;
      const content = collapse(attribute(node, "content") ?? "");
      const name = attribute(node, "name")?.toLowerCase();
      if (name === "description" && content !== "") this.description = content;
      if (name === "keywords") {
        this.keywords.push(...content.split(",").map((word) => word.trim()).filter(Boolean));
      }
    }
  }

  #wordsOf({ childNodes }: Element): string {
    return childNodes.map((node) => "value" in node ? node.value : "").join("");
  }

  #endText(): void {
    const text = collapseLines(this.#words);
    const links = this.#links;
    this.#words = "";
    this.#links = [];
    const [only] = links;
    // A paragraph that is nothing but a link.
    if (links.length === 1 && only?.category === "link" && only.content.text === text) {
      this.elements.push(only);
      return;
    }
    if (text !== "") this.elements.push({ category: "text", content: { text } });
    for (const link of links) this.elements.push(link);
  }

  #addLink(element: Element, words: string): void {
    const url = attribute(element, "href");
    if (url === undefined || url === "" || url.startsWith("#") || /^\s*javascript:/i.test(url)) return;
    this.#links.push(link(element, "href", collapseLines(words)));
  }

  #code(element: Element, depth: number): DocumentElement {
    const inner = element.childNodes.find((node): node is Element =>
      "tagName" in node && node.tagName === "code"
    );
    const classes = `${attribute(element, "class") ?? ""} ${inner && attribute(inner, "class") || ""}`;
    const language = /(?:^|\s)lang(?:uage)?-(\S+)/.exec(classes)?.[1];
    const code = this.#textOf(element, depth, { keepsSpaces: true }).replace(/\n$/, "");
    return { category: "code", content: { ...(language === undefined ? {} : { language }), code } };
  }

  #list(element: Element, depth: number): DocumentElement[] {
    const items = this.#items(element, depth);
    if (items.length === 0) return [];
    const start = Number(attribute(element, "start"));
    const from = Number.isSafeInteger(start) && start > 1 ? { start } : {};
    const content = element.tagName === "ol" ? { ordered: true, ...from, items } : { items };
    return [{ category: "list", content }, ...this.#othersBelow(element, depth)];
  }

  #items(element: Element, depth: number): ListItem[] {
    const items: ListItem[] = [];
    for (const node of element.childNodes) {
      if (!("tagName" in node)) continue;
      const below: ListItem[] = [];
      let isOrdered = false;
      const visit = (inner: Element, innerDepth: number) => {
        isOrdered = inner.tagName === "ol";
        below.push(...this.#items(inner, innerDepth));
      };
      const text = collapseLines(this.#textOf(node, depth + 1, { onList: visit }));
      if (below.length > 0) items.push({ text, ...(isOrdered ? { ordered: true } : {}), items: below });
      else if (text !== "") items.push(text);
    }
    return items;
  }

  #table(element: Element, depth: number): DocumentElement[] {
    const rows = [...this.#rows(element, depth)];
    const caption = element.childNodes.find((node): node is Element =>
      "tagName" in node && node.tagName === "caption"
    );
    const title = caption === undefined ? "" : collapse(this.#textOf(caption, depth));
    const elements: DocumentElement[] = title === "" ? [] : [{ category: "text", content: { text: title } }];
    const [first] = rows;
    if (first === undefined) return [...elements, ...this.#othersBelow(element, depth)];
    const body = first.isHeader ? rows.slice(1) : rows;
    const headers = first.isHeader ? first.cells.map((cell) => cell ?? "") : [];
    const cells = body.map((row): TableCell[] => row.cells);
    elements.push({ category: "table", content: { headers, rows: cells, total_rows: cells.length } });
    return [...elements, ...this.#othersBelow(element, depth)];
  }

  *#rows(
    element: Element,
    depth: number,
    spans: number[] = [],
  ): Generator<{ readonly cells: (string | null)[]; readonly isHeader: boolean }> {
    for (const node of element.childNodes) {
      if (!("tagName" in node) || isHidden(node)) continue;
      // A cell does not reach beyond its group of rows.
      if (["thead", "tbody", "tfoot"].includes(node.tagName)) yield* this.#rows(node, depth + 1);
      if (node.tagName !== "tr") continue;
      const cells = node.childNodes.filter((cell): cell is Element =>
        "tagName" in cell && /^t[dh]$/.test(cell.tagName) && !isHidden(cell)
      );
      yield {
        cells: this.#cells(cells, depth, spans),
        isHeader: cells.length > 0 && cells.every(({ tagName }) => tagName === "th"),
      };
    }
  }

  /**
   * The texts of the cells of a row, each in its column; what another cell covers is `null`.
   *
   * @param spans in how many further rows each column is covered from above; is updated
   */
  #cells(cells: readonly Element[], depth: number, spans: number[]): (string | null)[] {
    const row: (string | null)[] = [];
    const skipCovered = () => {
      for (let left = spans[row.length] ?? 0; left > 0; left = spans[row.length] ?? 0) {
        spans[row.length] = left - 1;
        if (++this.#covered > MAX_COVERED) throw unreadable("too_large", "its tables have too many cells");
        row.push(null);
      }
    };
    for (const cell of cells) {
      skipCovered();
      const rowSpan = attribute(cell, "rowspan") === "0" ? Infinity : spanOf(cell, "rowspan", MAX_ROW_SPAN);
      const text = collapseLines(this.#textOf(cell, depth + 1));
      for (let column = spanOf(cell, "colspan", MAX_SPAN); column > 0; column--) {
        spans[row.length] = rowSpan - 1;
        row.push(null);
      }
      row[row.length - spanOf(cell, "colspan", MAX_SPAN)] = text;
    }
    skipCovered();
    return row;
  }

  #image(element: Element, depth: number): DocumentElement[] {
    const isDrawing = element.tagName === "svg";
    const description = isDrawing ? collapse(this.#textOf(element, depth)) : attribute(element, "alt") ?? "";
    const url = isDrawing ? "" : attribute(element, "src") ?? "";
    if (isDrawing && description === "") return [];
    const isKept = url !== "" && (!url.startsWith("data:") || url.length <= MAX_DATA_URL_LENGTH);
    return [{ category: "image", content: { description, ...(isKept ? { url } : {}) } }];
  }

  #formula(element: Element, depth: number): string {
    return attribute(element, "alttext") ?? collapse(this.#textOf(element, depth));
  }

  #media(element: Element, depth: number): DocumentElement {
    const source = element.childNodes.find((node): node is Element =>
      "tagName" in node && node.tagName === "source"
    );
    const url = attribute(element, "src") ?? (source && attribute(source, "src"));
    const description = collapse(this.#textOf(element, depth));
    return {
      category: element.tagName === "audio" ? "audio" : "video",
      content: { ...(url === undefined ? {} : { url }), ...(description === "" ? {} : { description }) },
    };
  }

  #field(element: Element, depth: number): DocumentElement[] {
    const type = element.tagName === "select" ? "select" : attribute(element, "type") ?? "text";
    if (["hidden", "submit", "button", "reset", "image", "password"].includes(type)) return [];
    const value = attribute(element, "value");
    const options = element.childNodes.flatMap((node) =>
      "tagName" in node && node.tagName === "option" ? [collapse(this.#textOf(node, depth + 1))] : []
    );
    const field: FormField = {
      name: attribute(element, "name") ?? "",
      type,
      ...(value === undefined ? {} : { value }),
      ...(options.length === 0 ? {} : { options }),
    };
    return [{ category: "form", content: { fields: [field] } }];
  }

  /** Links and pictures in lists and tables, which follow them. */
  #othersBelow(element: Element, depth: number): DocumentElement[] {
    const others: DocumentElement[] = [];
    const visit = (node: Node, at: number): void => {
      if (at > this.#maxDepth || !("childNodes" in node)) return;
      for (const child of node.childNodes) {
        if (!("tagName" in child) || SKIPPED.has(child.tagName) || isHidden(child)) continue;
        if (
          child.tagName === "a" && /^(https?|mailto|ftp):/i.test(attribute(child, "href") ?? "")
        ) {
          others.push(link(child, "href", collapseLines(this.#textOf(child, at))));
        } else if (child.tagName === "img" && attribute(child, "alt") !== "") {
          others.push(...this.#image(child, at));
        }
        visit(child, at + 1);
      }
    };
    visit(element, depth);
    return others;
  }

  /** The text of a node; lists in it are passed to `onList` if that is given. */
  #textOf(
    node: Node,
    depth: number,
    options: {
      readonly onList?: (list: Element, depth: number) => void;
      /** Whether spaces and line ends of the file stay as they are. */
      readonly keepsSpaces?: boolean;
    } = {},
  ): string {
    const { onList, keepsSpaces = false } = options;
    if (depth > this.#maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#maxDepth} levels`);
    }
    if (node.nodeName === "#text" && "value" in node) return keepsSpaces ? node.value : spaces(node.value);
    if ("tagName" in node) {
      if (SKIPPED.has(node.tagName) || isHidden(node)) return "";
      if (node.tagName === "br") return "\n";
      if (onList !== undefined && /^[uo]l$/.test(node.tagName)) {
        onList(node, depth);
        return "";
      }
    }
    if (!("childNodes" in node)) return "";
    const keeps = keepsSpaces || node.nodeName === "pre";
    const text = node.childNodes.map((child) =>
      this.#textOf(child, depth + 1, { ...options, keepsSpaces: keeps })
    ).join("");
    return "tagName" in node && BLOCKS.has(node.tagName) ? `\n${text}\n` : text;
  }
}

/** Whether a browser would leave an element out. */
function isHidden(element: Element): boolean {
  return attribute(element, "hidden") !== undefined ||
    /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribute(element, "style") ?? "");
}

function spanOf(cell: Element, name: "colspan" | "rowspan", max: number): number {
  const span = Math.trunc(Number(attribute(cell, name)));
  return span >= 1 ? Math.min(span, max) : 1;
}

/** A line end of the file is a space. */
function spaces(text: string): string {
  return text.replace(/\s+/g, " ");
}

function link(element: Element, name: string, words: string): DocumentElement {
  const url = attribute(element, name) ?? "";
  return { category: "link", content: { text: words === "" ? url : words, url } };
}

function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((attribute) => attribute.name === name)?.value;
}

function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Collapses spaces; keeps one line break of several. */
function collapseLines(text: string): string {
  return text.split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "").join(
    "\n",
  );
}
