/** The text of paragraphs, cells, notes and margins of a document, and what stands in it: links, pictures, notes. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { annotation } from "../annotation.ts";
import type { ListMark } from "../list_builder.ts";
import { mathText } from "../math.ts";
import type { OfficePackage, Relationship, UnreadParts } from "../ooxml.ts";
import { joinText, type TextForm } from "../raised_text.ts";
import { symbolText } from "../symbol_fonts.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import type { Numbering } from "./numbering.ts";
import { formOf, isOn, type RunForm, type Styles } from "./styles.ts";

/** What all parts of a document share. */
export interface DocumentParts {
  readonly office: OfficePackage;
  readonly styles: Styles;
  readonly numbering: Numbering;
  /** Notes such as `footnote 2`, and comments, with the parts that they are in. */
  readonly notes: ReadonlyMap<string, { readonly node: XmlNode; readonly part: string }>;
  readonly unread: UnreadParts;
}

/** What a paragraph consists of. */
export interface Inline {
  readonly text: string;
  /** How its list marks it. */
  readonly mark: ListMark | undefined;
  /** Links, pictures, formulas, notes, comments and deletions, which follow the paragraph. */
  readonly others: readonly DocumentElement[];
  /** The texts of boxes in it. */
  readonly boxes: readonly XmlNode[];
  readonly hasPageBreak: boolean;
}

interface Runs {
  readonly pieces: (TextForm & { readonly text: string })[];
  readonly others: DocumentElement[];
  readonly boxes: XmlNode[];
  hasPageBreak: boolean;
}

/** Elements that others are in, and that say nothing by themselves. */
const CONTAINERS = new Set(["ins", "moveTo", "customXml", "smartTag", "sdt", "sdtContent"]);
/** Elements that have no content: properties, places, and marks that repeat what stands elsewhere. */
const EMPTY_NAMES =
  /(?:Pr|PrEx|Start|End|Ref|Grid)$|^(?:proofErr|lastRenderedPageBreak|softHyphen|(?:continuationS|s)eparator|ffData|moveFrom)$/;
/** Fields that are shown and have no text in the file. */
const COMPUTED_FIELD = /^\s*(EQ|SYMBOL|MACROBUTTON|GOTOBUTTON|AUTONUM\w*|LISTNUM|DISPLAYBARCODE)\b/i;
/** Kinds of drawings that need not have any text, picture or chart. */
const SHAPES = /\/(?:wordprocessing(?:Shape|Group|Canvas)|picture|lockedCanvas)$/;

/** The elements of a name right below, or in what only encloses them. */
export function* enclosed(parent: XmlNode | undefined, name: string): Generator<XmlNode, void> {
  for (const child of childrenOf(parent)) {
    if (child.name === name) yield child;
    else if (CONTAINERS.has(child.name)) yield* enclosed(child, name);
  }
}

/** The blocks of a part, such as its paragraphs and tables. What is no block is counted as not read. */
export function* blocksOf(parent: XmlNode | undefined, unread: UnreadParts): Generator<XmlNode, void> {
  for (const child of childrenOf(parent)) {
    if (["p", "tbl", "altChunk"].includes(child.name)) yield child;
    else if (CONTAINERS.has(child.name)) yield* blocksOf(child, unread);
    else if (!EMPTY_NAMES.test(child.name)) unread.add(child.name);
  }
}

/** Reads the text of a part of a document. */
export class PartReader {
  readonly #parts: DocumentParts;
  readonly #related: ReadonlyMap<string, Relationship>;

  constructor(parts: DocumentParts, part: string) {
    this.#parts = parts;
    this.#related = parts.office.relationships(part);
  }

  /** Reads a paragraph. Each is read once, in their order, because they are counted. */
  paragraph(node: XmlNode): Inline {
    const properties = at(node, "pPr");
    const style = at(properties, "pStyle")?.attributes["val"] ?? "";
    const runs: Runs = { pieces: [], others: [], boxes: [], hasPageBreak: false };
    this.#runs(node, runs, this.#parts.styles.formOf(style));
    const text = joinText(runs.pieces);
    const isGone = text.trim() === "" && ["del", "vanish"].some((name) => isOn(at(properties, "rPr", name)));
    const mark = isGone ? undefined : this.#parts.numbering.next(properties, style);
    return { text, mark, others: runs.others, boxes: runs.boxes, hasPageBreak: runs.hasPageBreak };
  }

  /** The text of paragraphs and tables, a line for each paragraph and row. What else is in them is added to `others`. */
  text(parent: XmlNode | undefined, others: DocumentElement[]): string {
    return [...blocksOf(parent, this.#parts.unread)].map((block) => {
      if (block.name === "tbl") return this.#tableText(block, others);
      if (block.name === "altChunk") {
        this.#parts.unread.add(block.name);
        return "";
      }
      const { text, mark, others: inside, boxes } = this.paragraph(block);
      others.push(...inside);
      const label = mark?.label === undefined ? "" : `${mark.label} `;
      return [`${label}${text}`.trim(), ...boxes.map((box) => this.text(box, others))].filter(Boolean).join(
        "\n",
      );
    }).filter((text) => text !== "").join("\n");
  }

  #tableText(table: XmlNode, others: DocumentElement[]): string {
    return [...enclosed(table, "tr")].map((row) =>
      [...enclosed(row, "tc")].map((cell) => this.text(cell, others).replaceAll("\n", " ")).join(" | ")
    ).join("\n");
  }

  #runs(parent: XmlNode, runs: Runs, form: RunForm): void {
    for (const node of childrenOf(parent)) this.#run(node, runs, form);
  }

  #run(node: XmlNode, runs: Runs, form: RunForm): void {
    const write = (text: string) =>
      void runs.pieces.push({ text, position: form.position, isStruck: form.isStruck });
    switch (node.name) {
      case "r": {
        const properties = at(node, "rPr");
        const style = at(properties, "rStyle")?.attributes["val"];
        const styled = style === undefined ? {} : this.#parts.styles.formOf(style);
        const inner = { ...form, ...styled, ...formOf(properties) };
        if (inner.isHidden !== true) this.#runs(node, runs, inner);
        else if (textOf(node) !== "") this.#parts.unread.add("hidden text");
        break;
      }
      case "t":
        write(symbolText(textOf(node), form.font));
        break;
      case "delText":
        if (form.isDeleted === true) write(textOf(node));
        break;
      case "tab":
      case "ptab":
        write("\t");
        break;
      case "br":
      case "cr":
        if (node.attributes["type"] === "page") runs.hasPageBreak = true;
        else write("\n");
        break;
      case "noBreakHyphen":
        write("\u2011");
        break;
      case "sym":
        write(this.#symbol(node));
        break;
      case "ruby":
        this.#runs(at(node, "rubyBase") ?? node, runs, form);
        write("(");
        this.#runs(at(node, "rt") ?? node, runs, form);
        write(")");
        break;
      case "del":
        this.#deletion(node, runs, form);
        break;
      case "sdt":
        this.#control(node, runs, form);
        break;
      case "fldChar":
        write(formFieldText(at(node, "ffData")));
        break;
      case "instrText": {
        const [, field] = COMPUTED_FIELD.exec(textOf(node)) ?? [];
        if (field !== undefined) this.#parts.unread.add(`field ${field.toUpperCase()}`);
        break;
      }
      case "hyperlink":
        this.#hyperlink(node, runs, form);
        break;
      case "footnoteReference":
      case "endnoteReference":
        this.#note(node, runs);
        break;
      case "commentReference":
        this.#comment(node.attributes["id"] ?? "", runs);
        break;
      case "oMath":
      case "oMathPara": {
        const expression = mathText(node).trim();
        if (expression === "") break;
        if (node.name === "oMath") runs.pieces.push({ text: ` ${expression} ` });
        runs.others.push({ category: "formula", content: { expression } });
        break;
      }
      case "drawing":
      case "pict":
        this.#drawing(node, runs);
        break;
      case "object": {
        const kind = [...descendantsOf(node, "OLEObject")][0]?.attributes["ProgID"];
        this.#parts.unread.add(kind === undefined ? "embedded object" : `embedded object ${kind}`);
        break;
      }
      default:
        this.#other(node, runs, form);
    }
  }

  /** What encloses other runs; else what is not known, and counts as not read if it gives nothing. */
  #other(node: XmlNode, runs: Runs, form: RunForm): void {
    if (EMPTY_NAMES.test(node.name)) return;
    const before = runs.pieces.length + runs.others.length + runs.boxes.length;
    this.#runs(node, runs, form);
    const isRead = runs.pieces.length + runs.others.length + runs.boxes.length > before;
    if (
      !isRead && !CONTAINERS.has(node.name) &&
      !["fldSimple", "dir", "bdo", "rubyBase", "rt"].includes(node.name)
    ) {
      this.#parts.unread.add(node.name);
    }
  }

  #symbol({ attributes: { char = "", font } }: XmlNode): string {
    const code = Number.parseInt(char, 16);
    const text = Number.isNaN(code) ? "" : symbolText(String.fromCodePoint(code), font);
    if (/[\ue000-\uf8ff]/.test(text)) this.#parts.unread.add(`sign of the font ${font}`);
    return text;
  }

  #deletion(node: XmlNode, runs: Runs, form: RunForm): void {
    const gone: Runs = { pieces: [], others: [], boxes: [], hasPageBreak: false };
    this.#runs(node, gone, { ...form, isDeleted: true });
    const text = joinText(gone.pieces).trim();
    if (text === "") return;
    const { author, date } = node.attributes;
    const label = `Deleted${author ? ` by ${author}` : ""}${date ? ` on ${date}` : ""}`;
    runs.others.push(annotation(label, {
      text,
      kind: "deletion",
      ...(author ? { author } : {}),
      ...(date ? { created_at: date } : {}),
    }));
  }

  /** A content control: a box as `☒` or `☐`, else its text, else what is chosen in it. */
  #control(node: XmlNode, runs: Runs, form: RunForm): void {
    const properties = at(node, "sdtPr");
    const box = at(properties, "checkbox");
    if (box !== undefined) {
      runs.pieces.push({
        text: isOn({ ...NONE, attributes: { val: "0", ...at(box, "checked")?.attributes } }) ? "☒" : "☐",
      });
      return;
    }
    const before = runs.pieces.length + runs.others.length;
    this.#runs(at(node, "sdtContent") ?? NONE, runs, form);
    if (runs.pieces.length + runs.others.length > before) return;
    const list = at(properties, "dropDownList") ?? at(properties, "comboBox");
    const { lastValue } = list?.attributes ?? {};
    const chosen = childrenOf(list, "listItem").find(({ attributes }) => attributes["value"] === lastValue);
    const text = chosen?.attributes["displayText"] ?? lastValue ??
      at(properties, "date")?.attributes["fullDate"];
    if (text !== undefined) runs.pieces.push({ text });
  }

  #hyperlink(node: XmlNode, runs: Runs, form: RunForm): void {
    const start = runs.pieces.length;
    this.#runs(node, runs, form);
    const url = this.#related.get(node.attributes["id"] ?? "")?.target;
    if (url === undefined) return;
    const text = joinText(runs.pieces.slice(start)).trim();
    runs.others.push({ category: "link", content: { text: text === "" ? url : text, url } });
  }

  #note({ name, attributes }: XmlNode, runs: Runs): void {
    const id = attributes["id"] ?? "";
    const kind = name === "footnoteReference" ? "footnote" : "endnote";
    const text = this.#noteText(`${kind} ${id}`, runs);
    if (text === undefined) return;
    runs.pieces.push({ text: `[${id}]` });
    runs.others.push(annotation(`${kind} ${id}`, { text, kind, mark: id }));
  }

  #comment(id: string, runs: Runs): void {
    const text = this.#noteText(`comment ${id}`, runs);
    if (text === undefined) return;
    const { author, date } = this.#parts.notes.get(`comment ${id}`)?.node.attributes ?? {};
    runs.others.push(annotation("Comment", {
      text,
      ...(author ? { author } : {}),
      ...(date ? { created_at: date } : {}),
    }));
  }

  #noteText(name: string, runs: Runs): string | undefined {
    const note = this.#parts.notes.get(name);
    return note && new PartReader(this.#parts, note.part).text(note.node, runs.others).trim();
  }

  #drawing(node: XmlNode, runs: Runs): void {
    const before = runs.others.length + runs.boxes.length;
    const { descr, title, name = "" } = [...descendantsOf(node, "docPr")][0]?.attributes ?? {};
    const { office, unread } = this.#parts;
    const pictures = [
      ...[...descendantsOf(node, "blip")].map(({ attributes }) => attributes["embed"] ?? attributes["link"]),
      ...[...descendantsOf(node, "imagedata")].map(({ attributes }) => attributes["id"]),
    ];
    const add = (id: string | undefined, read: (related: Relationship) => DocumentElement | undefined) => {
      const related = id === undefined ? undefined : this.#related.get(id);
      const element = related && read(related);
      if (element !== undefined) runs.others.push(element);
    };
    for (const id of pictures) add(id, (related) => office.picture(related, descr || title || name));
    for (const { attributes } of descendantsOf(node, "chart")) {
      add(attributes["id"], ({ target }) => office.chart(target));
    }
    for (const { attributes } of descendantsOf(node, "relIds")) {
      add(attributes["dm"], ({ target }) => office.diagram(target));
    }
    for (const { attributes } of descendantsOf(node, "textpath")) {
      if (attributes["string"]) {
        runs.others.push({ category: "text", content: { text: attributes["string"] } });
      }
    }
    runs.boxes.push(...descendantsOf(node, "txbxContent"));
    const kind = [...descendantsOf(node, "graphicData")][0]?.attributes["uri"];
    if (runs.others.length + runs.boxes.length === before && kind !== undefined && !SHAPES.test(kind)) {
      unread.add(`drawing of the kind ${kind.slice(kind.lastIndexOf("/") + 1)}`);
    }
  }
}

const NONE: XmlNode = { name: "", attributes: {}, children: [] };

/** The value of a box or a list of an old form; the text of a text field stands behind it. */
function formFieldText(field: XmlNode | undefined): string {
  const box = at(field, "checkBox");
  if (box !== undefined) return isOn(at(box, "checked") ?? at(box, "default")) ? "☒" : "☐";
  const list = at(field, "ddList");
  const chosen = Number((at(list, "result") ?? at(list, "default"))?.attributes["val"] ?? 0);
  return childrenOf(list, "listEntry")[chosen]?.attributes["val"] ?? "";
}
