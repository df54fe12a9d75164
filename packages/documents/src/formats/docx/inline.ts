/** The text of paragraphs, cells, notes and margins of a document, and what stands in it: links, pictures, notes. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { annotation } from "../sections.ts";
import type { ListMark } from "../list_builder.ts";
import { mathText } from "../math.ts";
import { formOf, isOn, type OfficePackage, type Relationship, type RunForm } from "../ooxml.ts";
import type { UnreadParts } from "../format.ts";
import { joinText, type TextForm } from "../raised_text.ts";
import { symbolText } from "../symbol_fonts.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import type { Numbering } from "./numbering.ts";
import type { Styles } from "./styles.ts";

export interface DocumentParts {
  readonly office: OfficePackage;
  readonly styles: Styles;
  readonly numbering: Numbering;
  /** Notes such as `footnote 2`, and comments, with the parts that they are in. */
  readonly notes: ReadonlyMap<string, { readonly node: XmlNode; readonly part: string }>;
  /** What files inside of the document say, by their parts. */
  readonly chunks: ReadonlyMap<string, readonly DocumentElement[]>;
  readonly unread: UnreadParts;
}

export interface Inline {
  readonly pieces: (TextForm & { readonly text: string })[];
  /** Links, pictures, formulas, notes, comments and deletions, which follow the paragraph. */
  readonly others: DocumentElement[];
  /** The texts of boxes in it. */
  readonly boxes: XmlNode[];
  hasPageBreak: boolean;
}

export interface Paragraph extends Readonly<Inline> {
  readonly text: string;
  readonly mark: ListMark | undefined;
}

/** Elements that others are in, and that say nothing by themselves. */
const CONTAINERS = new Set(
  "ins moveTo customXml smartTag sdt sdtContent fldSimple dir bdo".split(" "),
);
/** Elements that have no content: properties, places, and marks that repeat what stands elsewhere. */
const EMPTY_NAMES =
  /(?:Pr|PrEx|Start|End|Ref|Grid)$|^(?:proofErr|lastRenderedPageBreak|softHyphen|(?:continuationS|s)eparator|ffData|moveFrom|delInstrText)$/;
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

export class PartReader {
  readonly #parts: DocumentParts;
  readonly #related: ReadonlyMap<string, Relationship>;

  constructor(parts: DocumentParts, part: string) {
    this.#parts = parts;
    this.#related = parts.office.relationships(part);
  }

  /** Reads a paragraph. Each is read once, in their order, because they are counted. */
  paragraph(node: XmlNode): Paragraph {
    const properties = at(node, "pPr");
    const style = at(properties, "pStyle")?.attributes["val"] ?? "";
    const runs = emptyInline();
    this.#runs(node, runs, this.#parts.styles.formOf(style));
    const text = joinText(runs.pieces);
    const isGone = text.trim() === "" && ["del", "vanish"].some((name) => isOn(at(properties, "rPr", name)));
    const mark = isGone ? undefined : this.#parts.numbering.next(properties, style);
    return { ...runs, text, mark };
  }

  /** The text of paragraphs and tables, a line for each paragraph and row. What else is in them is added to `others`. */
  text(parent: XmlNode | undefined, others: DocumentElement[]): string {
    return [...blocksOf(parent, this.#parts.unread)].map((block) => {
      if (block.name === "tbl") return this.#tableText(block, others);
      if (block.name === "altChunk") {
        others.push(...this.chunk(block));
        return "";
      }
      const { text, mark, others: inside, boxes } = this.paragraph(block);
      others.push(...inside);
      const line = `${mark?.label ?? ""} ${text}`.trim();
      return [line, ...boxes.map((box) => this.text(box, others))].filter(Boolean).join("\n");
    }).filter((text) => text !== "").join("\n");
  }

  /** What a file says that is embedded as a block. */
  chunk({ attributes: { id = "" } }: XmlNode): readonly DocumentElement[] {
    const part = this.#related.get(id)?.target ?? "";
    const elements = this.#parts.chunks.get(part);
    if (elements === undefined) this.#parts.unread.add(`embedded file ${part}`.trim());
    return elements ?? [];
  }

  #tableText(table: XmlNode, others: DocumentElement[]): string {
    return [...enclosed(table, "tr")].map((row) =>
      [...enclosed(row, "tc")].map((cell) => this.text(cell, others).replaceAll("\n", " ")).join(" | ")
    ).filter((row) => /[^ |]/.test(row)).join("\n");
  }

  #runs(parent: XmlNode | undefined, runs: Inline, form: RunForm): void {
    for (const node of childrenOf(parent)) this.#run(node, runs, form);
  }

  #run(node: XmlNode, runs: Inline, form: RunForm): void {
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
      case "symEx":
        write(this.#symbol(node));
        break;
      case "ruby":
        this.#runs(at(node, "rubyBase"), runs, form);
        write("(");
        this.#runs(at(node, "rt"), runs, form);
        write(")");
        break;
      case "del":
        this.#deletion(node, runs, form);
        break;
      case "sdt": {
        const box = at(node, "sdtPr", "checkbox");
        if (box === undefined) this.#runs(at(node, "sdtContent"), runs, form);
        else write(isOn(at(box, "checked")) ? "☒" : "☐");
        break;
      }
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
      case "commentReference":
        this.#note(node, runs);
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
  #other(node: XmlNode, runs: Inline, form: RunForm): void {
    if (EMPTY_NAMES.test(node.name)) return;
    const size = () => runs.pieces.length + runs.others.length + runs.boxes.length;
    const before = size();
    this.#runs(node, runs, form);
    if (size() === before && !CONTAINERS.has(node.name)) this.#parts.unread.add(node.name);
  }

  #symbol({ attributes: { char = "", font } }: XmlNode): string {
    const code = Number.parseInt(char, 16);
    const text = code <= 0x10ffff ? symbolText(String.fromCodePoint(code), font).toWellFormed() : "";
    if (/[\ue000-\uf8ff]/.test(text)) this.#parts.unread.add(`sign of the font ${font}`);
    return text;
  }

  #deletion(node: XmlNode, runs: Inline, form: RunForm): void {
    const gone = emptyInline();
    this.#runs(node, gone, { ...form, isDeleted: true });
    const text = joinText(gone.pieces).trim();
    if (text === "") return;
    const { author, created_at } = signatureOf(node);
    const label = `Deleted${author ? ` by ${author}` : ""}${created_at ? ` on ${created_at}` : ""}`;
    runs.others.push(annotation(label, { text, kind: "deletion", ...signatureOf(node) }));
  }

  #hyperlink(node: XmlNode, runs: Inline, form: RunForm): void {
    const start = runs.pieces.length;
    this.#runs(node, runs, form);
    const url = this.#related.get(node.attributes["id"] ?? "")?.target;
    if (url === undefined) return;
    const text = joinText(runs.pieces.slice(start)).trim();
    runs.others.push({ category: "link", content: { text: text === "" ? url : text, url } });
  }

  #note({ name, attributes: { id = "" } }: XmlNode, runs: Inline): void {
    const kind = name.replace("Reference", "");
    const note = this.#parts.notes.get(`${kind} ${id}`);
    if (note === undefined) return;
    // Notes in notes are left out, because a note could contain itself.
    const reader = new PartReader({ ...this.#parts, notes: new Map() }, note.part);
    const text = reader.text(note.node, runs.others).trim();
    if (kind !== "comment") runs.pieces.push({ text: `[${id}]` });
    runs.others.push(
      kind === "comment"
        ? annotation("Comment", { text, ...signatureOf(note.node) })
        : annotation(`${kind} ${id}`, { text, kind, mark: id }),
    );
  }

  #drawing(node: XmlNode, runs: Inline): void {
    const boxes = [...descendantsOf(node, "txbxContent")];
    const drawn = [...this.#parts.office.drawn(node, this.#related)];
    runs.others.push(...drawn);
    runs.boxes.push(...boxes);
    const kind = [...descendantsOf(node, "graphicData")][0]?.attributes["uri"];
    if (drawn.length + boxes.length === 0 && kind !== undefined && !SHAPES.test(kind)) {
      this.#parts.unread.add(`drawing of the kind ${kind.slice(kind.lastIndexOf("/") + 1)}`);
    }
  }
}

function emptyInline(): Inline {
  return { pieces: [], others: [], boxes: [], hasPageBreak: false };
}

/** Who wrote a comment or a change, and when. */
function signatureOf({ attributes: { author, date } }: XmlNode): { author?: string; created_at?: string } {
  return { ...(author ? { author } : {}), ...(date ? { created_at: date } : {}) };
}

/** The value of a box or a list of an old form; the text of a text field stands behind it. */
function formFieldText(field: XmlNode | undefined): string {
  const box = at(field, "checkBox");
  if (box !== undefined) return isOn(at(box, "checked") ?? at(box, "default")) ? "☒" : "☐";
  const list = at(field, "ddList");
  const chosen = Number((at(list, "result") ?? at(list, "default"))?.attributes["val"] ?? 0);
  return childrenOf(list, "listEntry")[chosen]?.attributes["val"] ?? "";
}
