/** What stands in files of OpenDocument, written as HTML. */
import { type ParseLimits, unreadable, UnreadParts } from "../format.ts";
import { escapeHtml, itemHtml, PlacedElements, tableHtml } from "../html/writer.ts";
import { annotation, MAX_COLUMNS } from "../sections.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import { type OdfFile, OUTLINE } from "./package.ts";

/** The most rows that one is repeated as. */
const MAX_REPEATED_ROWS = 100;
/** The most characters of all cells that are repeated. */
const MAX_REPEATED_LENGTH = 8_000_000;
/** What a text has that is no text of it. */
const SILENT =
  /^(?:bookmark|tracked-changes|sequence-decls|variable-decls|forms|table-columns?|title|desc|notes|change-info)$/;
const SHAPE = /^(?:frame|g|custom-shape|rect|ellipse|polygon|line|connector|path)$/;

/** The list of an item, and the numbers of the item and of those that it is in. */
interface ItemPlace {
  readonly list: string;
  readonly numbers: readonly number[];
}

export class OdfWriter {
  readonly placed = new PlacedElements();
  readonly unread = new UnreadParts();
  readonly #file: OdfFile;
  readonly #maxDepth: number;
  readonly #deletions: ReadonlyMap<string, XmlNode>;
  readonly #outline: number[] = [];
  /** The last numbers of lists that another list may continue. */
  readonly #counted = new Map<string, number>();
  /** What follows the paragraph that is written: pictures, notes, boxes. */
  #after = "";
  #depth = 0;
  #repeatedLength = 0;

  constructor(file: OdfFile, { maxDepth }: ParseLimits, root: XmlNode) {
    this.#file = file;
    this.#maxDepth = maxDepth;
    this.#deletions = new Map(
      childrenOf(at(root, "tracked-changes"), "changed-region").flatMap((region) => {
        const deletion = at(region, "deletion");
        return deletion === undefined ? [] : [[region.attributes["id"] ?? "", deletion]];
      }),
    );
  }

  /** The blocks of a node. */
  blocks(node: XmlNode, place?: ItemPlace): string {
    return this.#nested(() =>
      childrenOf(node).map((child) => {
        if (child.name === "p" || child.name === "h") return this.#paragraph(child, place);
        if (child.name === "list") return this.#list(child, place);
        if (child.name === "table") return this.#table(child);
        if (SHAPE.test(child.name)) return this.shape(child);
        return SILENT.test(child.name) ? "" : this.blocks(child, place);
      }).join("")
    );
  }

  #nested(write: () => string): string {
    if (++this.#depth > this.#maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#maxDepth} levels`);
    }
    const html = write();
    this.#depth--;
    return html;
  }

  #paragraph(node: XmlNode, place: ItemPlace | undefined): string {
    const { "style-name": style = "", "outline-level": outline, "is-list-header": isHeader } =
      node.attributes;
    const breaks = (name: string) => this.#file.property(style, "paragraph-properties", name) === "page";
    const isNewPage = breaks("break-before") || (this.#file.styled(style, "master-page-name") ?? "") !== "";
    const { text, after } = this.#words(node, style);
    const level = Math.min(Math.max(Number(outline) || 1, 1), 6);
    const isNumbered = node.name === "h" && isHeader !== "true";
    const number = isNumbered ? this.#headingNumber(level, place) : undefined;
    const block = node.name === "h" || this.#file.isStyled(style, /^Title$/)
      ? `<h${level}>${escapeHtml(number === undefined ? "" : `${number} `)}${text}</h${level}>`
      : this.#file.isStyled(style, /preformatted|source(?:_20_)?(?:text|code)/i)
      ? `<pre>${text}</pre>`
      : `<p>${text}</p>`;
    const page = (isBreak: boolean) => isBreak ? this.placed.place("page") : "";
    return page(isNewPage) + block + after + page(breaks("break-after"));
  }

  /** The text of a paragraph, and what follows it. */
  #words(node: XmlNode, style = ""): { readonly text: string; readonly after: string } {
    const outer = this.#after;
    this.#after = "";
    const text = this.#formed(style, this.#inline(node));
    const after = this.#after;
    this.#after = outer;
    return { text, after };
  }

  #headingNumber(level: number, place: ItemPlace | undefined): string | undefined {
    if (place !== undefined) return this.#file.label(place.list, place.numbers);
    this.#outline.length = Math.min(this.#outline.length, level);
    for (let above = 0; above < level - 1; above++) {
      this.#outline[above] ??= this.#file.startOf(OUTLINE, above + 1);
    }
    this.#outline[level - 1] = (this.#outline[level - 1] ?? this.#file.startOf(OUTLINE, level) - 1) + 1;
    return this.#file.label(OUTLINE, this.#outline);
  }

  #list(node: XmlNode, place: ItemPlace | undefined): string {
    const { "style-name": style, "continue-numbering": continues, "continue-list": continued } =
      node.attributes;
    const list = style ?? place?.list ?? "";
    const above = place?.numbers ?? [];
    const key = `${above.length} ${list}`;
    const goesOn = continues === "true" || continued !== undefined;
    let number = (goesOn ? this.#counted.get(key) : undefined) ??
      this.#file.startOf(list, above.length + 1) - 1;
    return childrenOf(node).map((item) => {
      if (item.name !== "list-item") return this.blocks(item);
      const start = Number(item.attributes["start-value"]);
      number = Number.isInteger(start) ? start : number + 1;
      this.#counted.set(key, number);
      const numbers = [...above, number];
      const inner = this.blocks(item, { list, numbers });
      return at(item, "h") === undefined ? itemHtml(this.#file.label(list, numbers), inner).join("") : inner;
    }).join("");
  }

  #formed(style: string, html: string): string {
    return this.#file.tagsOf(style).reduce((inner, tag) => `<${tag}>${inner}</${tag}>`, html);
  }

  #inline(node: XmlNode | undefined): string {
    return this.#nested(() =>
      (node?.children ?? []).map((child) =>
        typeof child === "string" ? escapeHtml(child) : this.#inlineNode(child)
      ).join("")
    );
  }

  #inlineNode(node: XmlNode): string {
    const { "style-name": style = "", href = "", "note-class": kind = "footnote" } = node.attributes;
    switch (node.name) {
      case "s":
      case "tab":
        return " ";
      case "line-break":
        return "<br>";
      case "span":
        return this.#formed(style, this.#inline(node));
      case "a":
        return `<a href="${escapeHtml(/^[a-z][a-z\d+.-]*:/i.test(href) ? href : "")}">${
          this.#inline(node)
        }</a>`;
      case "note": {
        const mark = textOf(at(node, "note-citation")).trim() || "*";
        this.#note(`${kind} ${mark}`, at(node, "note-body"), { kind, mark });
        return escapeHtml(`[${mark}]`);
      }
      case "annotation":
        return this.#note("Comment", node, signatureOf(node));
      case "change": {
        const deletion = this.#deletions.get(node.attributes["change-id"] ?? "");
        return this.#note("Deleted", deletion, {
          kind: "deletion",
          ...signatureOf(at(deletion, "change-info")),
        });
      }
      case "ruby":
        return `<ruby>${this.#inline(at(node, "ruby-base"))}<rt>${
          escapeHtml(textOf(at(node, "ruby-text")))
        }</rt></ruby>`;
      default:
        if (SHAPE.test(node.name)) this.#after += this.shape(node);
        else if (!SILENT.test(node.name)) return this.#inline(node);
        return "";
    }
  }

  /** Puts a note, a comment or a deletion after the paragraph. */
  #note(
    label: string,
    node: XmlNode | undefined,
    said: { readonly kind?: string; readonly mark?: string; readonly author?: string },
  ): "" {
    const paragraphs = [...descendantsOf(node, "p"), ...descendantsOf(node, "h")];
    const text = paragraphs.map(textOf).join("\n").trim();
    const whole = said.author === undefined ? label : `${label} by ${said.author}`;
    if (text !== "") this.#after += this.placed.place(annotation(whole, { text, ...said }));
    return "";
  }

  /** A frame or a shape: its picture, its formula, its table, its text. */
  shape(node: XmlNode): string {
    const [title, words] = ["title", "desc"].map((name) => textOf(at(node, name)).trim());
    const description = words || title || node.attributes["name"] || "";
    const object = ["object", "object-ole", "plugin"].map((name) => at(node, name)).find(Boolean);
    const content = object?.name === "object" ? this.#file.object(object) : undefined;
    if (content?.name === "math") {
      const written = descendantsOf(content, "annotation").next().value ?? content;
      return this.placed.place({
        category: "formula",
        content: { expression: textOf(written).replace(/\s+/g, " ").trim() },
      });
    }
    if (object !== undefined) {
      this.unread.add(object.name === "plugin" ? "film or sound" : "embedded object or chart");
    }
    // Of several forms of a picture, the first is the best one.
    const image = at(node, "table") === undefined ? at(node, "image") : undefined;
    if (image === undefined) return this.blocks(node);
    return this.placed.place({ category: "image", content: this.#file.picture(image, description) });
  }

  /** As many copies, which cost little in the file and may be tables with copies themselves. */
  #repeated(html: string, count: number): string[] {
    this.#repeatedLength += html.length * (Math.max(count, 1) - 1);
    if (this.#repeatedLength > MAX_REPEATED_LENGTH) {
      throw unreadable("too_large", "its tables have too many cells");
    }
    return Array<string>(Math.max(count, 0)).fill(html);
  }

  #table(node: XmlNode): string {
    const rows: string[][] = [];
    for (const row of rowsOf(node)) {
      const cells: string[] = [];
      for (const cell of childrenOf(row, "table-cell")) {
        const inner = this.blocks(cell);
        const count = (name: string) => Math.max(Number(cell.attributes[`number-${name}`]) || 1, 1);
        const html = `<td colspan="${count("columns-spanned")}" rowspan="${
          count("rows-spanned")
        }">${inner}</td>`;
        const columns = Math.min(count("columns-repeated"), MAX_COLUMNS - cells.length);
        cells.push(...this.#repeated(html, columns));
      }
      const isEmpty = cells.every((cell) => !/>[^<]/.test(cell));
      const count = Math.min(Number(row.attributes["number-rows-repeated"]) || 1, MAX_REPEATED_ROWS);
      for (const _ of this.#repeated(cells.join(""), isEmpty ? 1 : Math.max(count, 1))) rows.push(cells);
    }
    return tableHtml(rows);
  }
}

/** The rows of a table, in all of its groups. */
function rowsOf(node: XmlNode): XmlNode[] {
  return childrenOf(node).flatMap((child) =>
    child.name === "table-row"
      ? [child]
      : /^table-(?:header-rows|rows|row-group)$/.test(child.name)
      ? rowsOf(child)
      : []
  );
}

/** Who wrote a comment or a change, and when. */
function signatureOf(node: XmlNode | undefined): { author?: string; created_at?: string } {
  const [author, date] = ["creator", "date"].map((name) => textOf(at(node, name)).trim());
  return { ...(author ? { author } : {}), ...(date ? { created_at: date } : {}) };
}
