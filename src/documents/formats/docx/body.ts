/** The body of a document: its paragraphs, lists, tables, pictures and notes, in order. */
import type { TableCell } from "../../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { annotation } from "../annotation.ts";
import { ListBuilder } from "../list_builder.ts";
import type { OfficePackage, Relationship } from "../ooxml.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import { indentOf, Numbering, outlineLevel, type ParagraphKind, Styles } from "./styles.ts";

/** The most columns that one cell covers. */
const MAX_SPAN = 63;
/** How far a level of a list is indented by default, in twentieths of a point. */
const INDENT = 720;

/** What a paragraph consists of. */
interface Inline {
  text: string;
  /** Links, pictures, formulas, notes and comments, which follow the paragraph. */
  readonly others: DocumentElement[];
  /** The texts of boxes in it. */
  readonly boxes: XmlNode[];
  hasPageBreak: boolean;
  /** Whether there is anything but formulas. */
  hasWords: boolean;
}

/** Reads the body of a document into segments that page breaks divide. */
export class BodyReader {
  readonly #office: OfficePackage;
  readonly #related: ReadonlyMap<string, Relationship>;
  readonly #styles: Styles;
  readonly #numbering: Numbering;
  readonly #notes: ReadonlyMap<string, string>;
  readonly #comments: ReadonlyMap<string, XmlNode>;
  readonly #segments: DocumentElement[][] = [[]];
  readonly #list = new ListBuilder();
  #code: string[] = [];
  #deletions = 0;
  #objects = 0;

  constructor(office: OfficePackage, main: string) {
    this.#office = office;
    this.#related = office.relationships(main);
    const part = (type: string) => {
      const target = [...this.#related.values()].find((each) => each.type === type)?.target;
      return target === undefined ? undefined : office.xml(target);
    };
    this.#styles = new Styles(part("styles"));
    this.#numbering = new Numbering(part("numbering"));
    this.#notes = new Map([
      ...notesOf(part("footnotes"), "footnote"),
      ...notesOf(part("endnotes"), "endnote"),
    ]);
    this.#comments = new Map(
      childrenOf(at(part("comments"), "comments"), "comment").map((
        node,
      ) => [node.attributes["id"] ?? "", node]),
    );
  }

  get losses(): string[] {
    return [
      ...(this.#deletions === 0 ? [] : ["Deletions that are tracked are left out"]),
      ...(this.#objects === 0 ? [] : [`Embedded objects are not shown: ${this.#objects}`]),
    ];
  }

  read(body: XmlNode): DocumentElement[][] {
    this.#blocks(body);
    this.#endBlocks();
    return this.#segments;
  }

  /** The header and the footer of the pages. */
  margins(body: XmlNode): { readonly header: DocumentElement[]; readonly footer: DocumentElement[] } {
    return {
      header: this.#margin(body, "headerReference", "header"),
      footer: this.#margin(body, "footerReference", "footer"),
    };
  }

  #blocks(parent: XmlNode): void {
    for (const node of childrenOf(parent)) {
      switch (node.name) {
        case "p":
          this.#paragraph(node);
          break;
        case "tbl":
          this.#endBlocks();
          this.#table(node);
          break;
        case "sdt":
          this.#blocks(at(node, "sdtContent") ?? node);
          break;
        case "ins":
        case "moveTo":
        case "customXml":
        case "smartTag":
          this.#blocks(node);
          break;
      }
    }
  }

  #paragraph(node: XmlNode): void {
    const properties = at(node, "pPr");
    if (isOn(at(properties, "pageBreakBefore"))) this.#breakPage();
    const inline = this.#inline(node);
    const style = at(properties, "pStyle")?.attributes["val"] ?? "";
    const outline = outlineLevel(properties);
    const kind = outline === undefined ? this.#styles.kindOf(style) : { heading: outline };
    const text = inline.text.trim();
    const list = this.#listOf(properties, style);
    if (text !== "") this.#addText(text, { raw: inline.text, kind, list });
    if (inline.others.length > 0 || inline.boxes.length > 0) this.#endBlocks();
    this.#add(...inline.others);
    for (const box of inline.boxes) this.#blocks(box);
    if (inline.hasPageBreak || isPageSection(at(properties, "sectPr"))) this.#breakPage();
  }

  #addText(
    text: string,
    { raw, kind, list }: {
      readonly raw: string;
      readonly kind: ParagraphKind;
      readonly list: { readonly level: number; readonly isOrdered: boolean } | undefined;
    },
  ): void {
    if (kind !== undefined && "heading" in kind) {
      this.#endBlocks();
      this.#add({ category: "heading", content: { level: kind.heading, text: text.replace(/\s+/g, " ") } });
    } else if (kind !== undefined) {
      this.#add(...this.#list.take());
      this.#code.push(raw);
    } else if (list !== undefined) {
      this.#endCode();
      if (!this.#list.add(text, list)) {
        this.#add(...this.#list.take());
        this.#list.add(text, list);
      }
    } else {
      this.#endBlocks();
      this.#add({ category: "text", content: { text } });
    }
  }

  #listOf(properties: XmlNode | undefined, style: string) {
    const numbers = at(properties, "numPr") ?? this.#styles.listOf(style);
    const id = at(numbers, "numId")?.attributes["val"];
    if (id === undefined || id === "0") return undefined;
    const level = Number(at(numbers, "ilvl")?.attributes["val"] ?? 0);
    const isOrdered = this.#numbering.isOrdered(id, level);
    if (isOrdered === undefined) return undefined;
    // Styles such as "List Bullet 2" are lists of their own, which only their indentation puts below another one.
    const indents = [indentOf(properties), this.#numbering.indentOf(id, level), this.#styles.indentOf(style)];
    if (at(properties, "numPr") === undefined) indents.splice(1, 0, indents.pop());
    return { level: indents.find((indent) => indent !== undefined) ?? (level + 1) * INDENT, isOrdered };
  }

  #inline(node: XmlNode): Inline {
    const inline: Inline = { text: "", others: [], boxes: [], hasPageBreak: false, hasWords: false };
    this.#runs(node, inline);
    return inline;
  }

  #runs(parent: XmlNode, inline: Inline): void {
    for (const node of childrenOf(parent)) {
      switch (node.name) {
        case "t":
          inline.text += textOf(node);
          break;
        case "tab":
          inline.text += "\t";
          break;
        case "br":
        case "cr":
          if (node.attributes["type"] === "page") inline.hasPageBreak = true;
          else inline.text += "\n";
          break;
        case "noBreakHyphen":
          inline.text += "\u2011";
          break;
        case "sym":
          inline.text += symbol(node);
          break;
        case "del":
        case "moveFrom":
          this.#deletions++;
          break;
        case "hyperlink":
          this.#hyperlink(node, inline);
          break;
        case "footnoteReference":
        case "endnoteReference":
          this.#note(node, inline);
          break;
        case "commentReference":
          inline.others.push(...this.#comment(node.attributes["id"] ?? ""));
          break;
        case "oMath":
        case "oMathPara":
          this.#formula(node, inline);
          break;
        case "drawing":
        case "pict":
          this.#drawing(node, inline);
          break;
        case "object":
          this.#objects++;
          break;
        case "AlternateContent":
          this.#runs(at(node, "Choice") ?? at(node, "Fallback") ?? EMPTY, inline);
          break;
        case "pPr":
        case "rPr":
        case "instrText":
        case "delText":
          break;
        default:
          this.#runs(node, inline);
      }
    }
  }

  #hyperlink(node: XmlNode, inline: Inline): void {
    const start = inline.text.length;
    this.#runs(node, inline);
    const { id, anchor } = node.attributes;
    const url = id === undefined ? undefined : this.#related.get(id)?.target;
    if (url === undefined && anchor !== undefined) return;
    const text = inline.text.slice(start).trim();
    if (url !== undefined) {
      inline.others.push({ category: "link", content: { text: text === "" ? url : text, url } });
    }
  }

  #note({ name, attributes }: XmlNode, inline: Inline): void {
    const id = attributes["id"] ?? "";
    const kind = name === "footnoteReference" ? "footnote" : "endnote";
    const text = this.#notes.get(`${kind} ${id}`);
    if (text === undefined) return;
    inline.text += `[${id}]`;
    inline.others.push(annotation(`${kind} ${id}`, { text, kind, mark: id }));
  }

  #comment(id: string): DocumentElement[] {
    const comment = this.#comments.get(id);
    if (comment === undefined) return [];
    const { author, date } = comment.attributes;
    return [annotation("Comment", {
      text: paragraphsOf(comment),
      ...(author ? { author } : {}),
      ...(date ? { created_at: date } : {}),
    })];
  }

  #formula(node: XmlNode, inline: Inline): void {
    const expression = mathText(node).trim();
    if (expression === "") return;
    if (node.name === "oMath") inline.text += ` ${expression} `;
    inline.others.push({ category: "formula", content: { expression } });
  }

  #drawing(node: XmlNode, inline: Inline): void {
    const { descr, title, name = "" } = [...descendantsOf(node, "docPr")][0]?.attributes ?? {};
    const pictures = [
      ...[...descendantsOf(node, "blip")].map(({ attributes }) => attributes["embed"]),
      ...[...descendantsOf(node, "imagedata")].map(({ attributes }) => attributes["id"]),
    ];
    for (const id of pictures) {
      const target = id === undefined ? undefined : this.#related.get(id);
      if (target !== undefined && !target.isExternal) {
        inline.others.push(this.#office.picture(target.target, descr || title || name));
      }
    }
    for (const { attributes } of descendantsOf(node, "chart")) {
      const target = this.#related.get(attributes["id"] ?? "")?.target;
      const chart = target === undefined ? undefined : this.#office.chart(target);
      if (chart !== undefined) inline.others.push(chart);
    }
    for (const { attributes } of descendantsOf(node, "relIds")) {
      const target = this.#related.get(attributes["dm"] ?? "")?.target;
      const texts = [...descendantsOf((target && this.#office.xml(target)) || EMPTY, "t")].map(textOf).filter(
        Boolean,
      );
      if (texts.length > 0) {
        inline.others.push({ category: "diagram", content: { description: texts.join("\n") } });
      }
    }
    inline.boxes.push(...descendantsOf(node, "txbxContent"));
  }

  #table(node: XmlNode): void {
    const rows: TableCell[][] = [];
    let hasHeader = false;
    for (const row of rowsOf(node)) {
      const cells = childrenOf(row).flatMap((child) =>
        child.name === "sdt" ? childrenOf(at(child, "sdtContent"), "tc") : child.name === "tc" ? [child] : []
      );
      if (rows.length === 0) hasHeader = isOn(at(row, "trPr", "tblHeader"));
      rows.push(cells.flatMap((cell): TableCell[] => {
        const properties = at(cell, "tcPr");
        const span = Math.min(Number(at(properties, "gridSpan")?.attributes["val"] ?? 1) || 1, MAX_SPAN);
        const merge = at(properties, "vMerge");
        const isContinued = merge !== undefined && merge.attributes["val"] !== "restart";
        return [isContinued ? null : this.#cellText(cell), ...Array<null>(span - 1).fill(null)];
      }));
    }
    if (rows.length === 0) return;
    // Most tables begin with the names of their columns, also where the file does not say so.
    const isHeader = rows.length > 1 &&
      (hasHeader || rows[0]?.every((cell) => typeof cell === "string" && cell !== "") === true);
    const headers = isHeader ? (rows[0] ?? []).map((cell) => String(cell ?? "")) : [];
    const body = isHeader ? rows.slice(1) : rows;
    this.#add({ category: "table", content: { headers, rows: body, total_rows: body.length } });
    this.#add(...this.#cellOthers);
    this.#cellOthers = [];
  }

  #cellOthers: DocumentElement[] = [];

  #cellText(cell: XmlNode): string {
    return childrenOf(cell).flatMap((child) => {
      if (child.name === "tbl") {
        return [...descendantsOf(child, "tc")].map((inner) => this.#cellText(inner)).join(" | ");
      }
      if (child.name === "sdt") return this.#cellText(at(child, "sdtContent") ?? EMPTY);
      if (child.name !== "p") return [];
      const { text, others } = this.#inline(child);
      this.#cellOthers.push(...others);
      return text.trim();
    }).filter((text) => text !== "").join("\n");
  }

  #margin(body: XmlNode, reference: string, category: "header" | "footer"): DocumentElement[] {
    const references = childrenOf(at(body, "sectPr"), reference);
    const chosen = references.find(({ attributes }) => attributes["type"] === "default") ?? references[0];
    const target = this.#related.get(chosen?.attributes["id"] ?? "")?.target;
    const text = paragraphsOf((target && this.#office.xml(target)) || EMPTY).trim();
    return text === "" ? [] : [{ category, content: { text } }];
  }

  #add(...elements: DocumentElement[]): void {
    this.#segments.at(-1)?.push(...elements);
  }

  #endCode(): void {
    if (this.#code.length > 0) this.#add({ category: "code", content: { code: this.#code.join("\n") } });
    this.#code = [];
  }

  #endBlocks(): void {
    this.#add(...this.#list.take());
    this.#endCode();
  }

  #breakPage(): void {
    this.#endBlocks();
    this.#segments.push([]);
  }
}

const EMPTY: XmlNode = { name: "", attributes: {}, children: [] };

function isOn(toggle: XmlNode | undefined): boolean {
  return toggle !== undefined && !["0", "false", "off"].includes(toggle.attributes["val"] ?? "");
}

/** Whether a section begins on a new page. */
function isPageSection(section: XmlNode | undefined): boolean {
  return section !== undefined &&
    !["continuous", "nextColumn"].includes(at(section, "type")?.attributes["val"] ?? "");
}

function* rowsOf(table: XmlNode): Generator<XmlNode, void> {
  for (const child of childrenOf(table)) {
    if (child.name === "tr") yield child;
    else if (["sdt", "sdtContent", "ins", "customXml"].includes(child.name)) yield* rowsOf(child);
  }
}

function notesOf(part: XmlNode | undefined, kind: "footnote" | "endnote"): [string, string][] {
  return childrenOf(at(part, `${kind}s`), kind)
    .filter(({ attributes }) => attributes["type"] === undefined || attributes["type"] === "normal")
    .map((note) => [`${kind} ${note.attributes["id"]}`, paragraphsOf(note).trim()]);
}

/** The text of all paragraphs, a line for each. */
function paragraphsOf(node: XmlNode): string {
  return [...descendantsOf(node, "p")].map((paragraph) =>
    [...descendantsOf(paragraph, "t")].map(textOf).join("").trim()
  ).filter((text) => text !== "").join("\n");
}

function symbol({ attributes }: XmlNode): string {
  const code = Number.parseInt(attributes["char"] ?? "", 16);
  return Number.isNaN(code) ? "" : String.fromCodePoint(code);
}

/** A formula in one line: fractions as `(a)/(b)`, powers and indices by `^` and `_`. */
function mathText(node: XmlNode): string {
  const part = (name: string) => mathText(at(node, name) ?? EMPTY);
  switch (node.name) {
    case "t":
      return textOf(node);
    case "f":
      return `(${part("num")})/(${part("den")})`;
    case "sSup":
      return `${part("e")}^(${part("sup")})`;
    case "sSub":
      return `${part("e")}_(${part("sub")})`;
    case "sSubSup":
      return `${part("e")}_(${part("sub")})^(${part("sup")})`;
    case "rad": {
      const degree = part("deg");
      return degree === "" ? `√(${part("e")})` : `root(${degree}, ${part("e")})`;
    }
    case "nary": {
      const sign = at(node, "naryPr", "chr")?.attributes["val"] ?? "∫";
      return `${sign}_(${part("sub")})^(${part("sup")}) ${part("e")}`;
    }
    case "d":
      return `(${childrenOf(node, "e").map(mathText).join(", ")})`;
    case "rPr":
    case "ctrlPr":
      return "";
    default:
      return childrenOf(node).map(mathText).join("");
  }
}
