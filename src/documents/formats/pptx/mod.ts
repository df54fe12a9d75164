/** Presentations of PowerPoint and others (PPTX). */
import { annotation } from "../annotation.ts";
import type { TableCell } from "../../../protocol/dpe_content.ts";
import type { DocumentElement, DocumentPage } from "../../../provider/documents/source.ts";
import { shorten } from "../../../text.ts";
import { type DocumentFacts, type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { ListBuilder } from "../list_builder.ts";
import { OfficePackage, type Relationship } from "../ooxml.ts";
import { openingOf, withIds } from "../sections.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import { ZipParts } from "../zip.ts";

/** The most characters of the title of a slide. */
const MAX_TITLE = 200;
/** How many slides are read for the summary. */
const OPENING_SLIDES = 3;
/** Shapes that only repeat what each slide has. */
const MARGINS = new Set(["dt", "sldNum", "ftr", "hdr"]);

/** Opens a presentation. A page is a slide, with its notes. */
export function open({ bytes, limits }: ParseInput): ParsedDocument {
  const parts = new ZipParts(bytes, limits);
  const presentation = new Presentation(new OfficePackage(parts, limits), parts.names);
  return { facts: presentation.facts(), page: (index) => presentation.page(index) };
}

class Presentation {
  readonly #office: OfficePackage;
  readonly #names: readonly string[];
  /** The parts of the slides, in their order. */
  readonly #slides: readonly string[];

  constructor(office: OfficePackage, names: readonly string[]) {
    this.#office = office;
    this.#names = names;
    const main = [...office.relationships("").values()].find(({ type }) => type === "officeDocument")?.target;
    const root = main === undefined ? undefined : at(office.xml(main), "presentation");
    if (main === undefined || root === undefined) {
      throw unreadable("damaged", "the file is damaged, or no presentation of this format");
    }
    const related = office.relationships(main);
    this.#slides = childrenOf(at(root, "sldIdLst"), "sldId").flatMap(({ attributes }) =>
      related.get(attributes["r:id"] ?? attributes["id"] ?? "")?.target ?? []
    );
  }

  facts(): DocumentFacts {
    const { title, subject, keywords } = this.#office.properties();
    const slides = this.#slides.map((part) => this.#slide(part));
    const pageTitles = slides.map((slide, index) => this.#titleOf(slide, index));
    const first = this.#slides.slice(0, OPENING_SLIDES).flatMap((_, index) => this.page(index).elements);
    const losses: string[] = [];
    if (this.#slides.length === 0) losses.push("The presentation has no slides");
    if (this.#names.some((name) => name.endsWith("vbaproject.bin"))) losses.push("Macros are not shown");
    if (this.#names.some((name) => /^ppt\/media\/.*\.(mp4|m4v|avi|wmv|mov|mp3|wav|m4a)$/i.test(name))) {
      losses.push("Sounds and videos are not shown");
    }
    // Charts have their numbers in embedded workbooks, which are no objects of a slide.
    if (slides.some((slide) => !descendantsOf(slide, "oleObj").next().done)) {
      losses.push("Embedded objects are not shown");
    }
    return {
      title: title === undefined || isDefaultTitle(title) ? pageTitles[0] ?? title : title,
      pageCount: Math.max(this.#slides.length, 1),
      pageTitles,
      headings: pageTitles.slice(0, 200),
      keywords,
      opening: [...subject === undefined ? [] : [subject], openingOf(first)].join("\n").trim(),
      losses,
    };
  }

  page(index: number): DocumentPage {
    const part = this.#slides[index];
    if (part === undefined) return { title: "No slides", elements: [] };
    const slide = this.#slide(part);
    const related = this.#office.relationships(part);
    const reader = new SlideReader(this.#office, related);
    const elements = [
      ...reader.read(at(slide, "cSld", "spTree")),
      ...this.#notes(related),
      ...this.#comments(related),
    ];
    return { title: this.#titleOf(slide, index), elements: withIds(elements, index) };
  }

  #slide(part: string): XmlNode {
    const slide = at(this.#office.xml(part), "sld");
    if (slide === undefined) throw unreadable("damaged", "a slide is missing");
    return slide;
  }

  #titleOf(slide: XmlNode, index: number): string {
    const title = [...descendantsOf(slide, "sp")].find((shape) => /title/i.test(placeholderOf(shape) ?? ""));
    const text = title === undefined ? "" : linesOf(at(title, "txBody")).join(" ").trim();
    const name = text === "" ? `Slide ${index + 1}` : shorten(text.replace(/\s+/g, " "), MAX_TITLE);
    return slide.attributes["show"] === "0" ? `${name} (hidden)` : name;
  }

  #notes(related: ReadonlyMap<string, Relationship>): DocumentElement[] {
    const target = [...related.values()].find(({ type }) => type === "notesSlide")?.target;
    const notes = target === undefined ? undefined : at(this.#office.xml(target), "notes");
    const body = [...descendantsOf(notes ?? EMPTY, "sp")].find((shape) => placeholderOf(shape) === "body");
    const text = linesOf(at(body, "txBody")).join("\n").trim();
    return text === "" ? [] : [annotation("Notes of the speaker", { text, kind: "notes" })];
  }

  #comments(related: ReadonlyMap<string, Relationship>): DocumentElement[] {
    const parts = [...related.values()].filter(({ type }) => type === "comments");
    return parts.flatMap(({ target }) =>
      [...descendantsOf(this.#office.xml(target) ?? EMPTY, "cm")].map((comment): DocumentElement => {
        const { dt } = comment.attributes;
        return annotation("Comment", {
          text: (textOf(at(comment, "text")) || linesOf(at(comment, "txBody")).join("\n")).trim(),
          ...(dt ? { created_at: dt } : {}),
        });
      })
    );
  }
}

/** Reads the shapes of a slide, in their order. */
class SlideReader {
  readonly #office: OfficePackage;
  readonly #related: ReadonlyMap<string, Relationship>;

  constructor(office: OfficePackage, related: ReadonlyMap<string, Relationship>) {
    this.#office = office;
    this.#related = related;
  }

  *read(tree: XmlNode | undefined): Generator<DocumentElement, void> {
    for (const shape of childrenOf(tree)) {
      switch (shape.name) {
        case "sp":
        case "cxnSp":
          yield* this.#shape(shape);
          break;
        case "grpSp":
          yield* this.read(shape);
          break;
        case "pic":
          yield* this.#picture(shape);
          break;
        case "graphicFrame":
          yield* this.#frame(shape);
          break;
        case "AlternateContent":
          yield* this.read(at(shape, "Choice") ?? at(shape, "Fallback"));
          break;
      }
    }
  }

  *#shape(shape: XmlNode): Generator<DocumentElement, void> {
    const placeholder = placeholderOf(shape);
    if (placeholder !== undefined && MARGINS.has(placeholder)) return;
    const body = at(shape, "txBody");
    if (placeholder !== undefined && /title/i.test(placeholder)) {
      const text = linesOf(body).join(" ").replace(/\s+/g, " ").trim();
      if (text !== "") {
        yield { category: "heading", content: { level: placeholder === "subTitle" ? 2 : 1, text } };
      }
    } else yield* paragraphs(body, placeholder === "body" || placeholder === "obj");
    yield* this.#links(shape);
  }

  *#links(shape: XmlNode): Generator<DocumentElement, void> {
    for (const run of [...descendantsOf(shape, "r"), shape]) {
      const id = at(run, "rPr", "hlinkClick")?.attributes["id"] ??
        at(run, "nvSpPr", "cNvPr", "hlinkClick")?.attributes["id"];
      const target = this.#related.get(id ?? "");
      if (target === undefined || !target.isExternal) continue;
      const text = (textOf(at(run, "t")) || linesOf(at(run, "txBody")).join(" ")).trim();
      yield { category: "link", content: { text: text === "" ? target.target : text, url: target.target } };
    }
  }

  *#picture(shape: XmlNode): Generator<DocumentElement, void> {
    const { descr = "", name = "" } = at(shape, "nvPicPr", "cNvPr")?.attributes ?? {};
    const target = this.#related.get(at(shape, "blipFill", "blip")?.attributes["embed"] ?? "");
    if (target !== undefined && !target.isExternal) yield this.#office.picture(target.target, descr || name);
  }

  *#frame(frame: XmlNode): Generator<DocumentElement, void> {
    const data = at(frame, "graphic", "graphicData");
    const table = at(data, "tbl");
    if (table !== undefined) yield* toTable(table);
    for (const { attributes } of childrenOf(data, "chart")) {
      const target = this.#related.get(attributes["id"] ?? "")?.target;
      const chart = target === undefined ? undefined : this.#office.chart(target);
      if (chart !== undefined) yield chart;
    }
    for (const { attributes } of childrenOf(data, "relIds")) {
      const target = this.#related.get(attributes["dm"] ?? "")?.target;
      const texts = [...descendantsOf((target && this.#office.xml(target)) || EMPTY, "t")].map(textOf).filter(
        Boolean,
      );
      if (texts.length > 0) yield { category: "diagram", content: { description: texts.join("\n") } };
    }
  }
}

const EMPTY: XmlNode = { name: "", attributes: {}, children: [] };

/** Whether PowerPoint has set the title itself, in one of its languages: "PowerPoint Presentation" and the like. */
function isDefaultTitle(title: string): boolean {
  return /^(?:PowerPoint\P{L}*\p{L}+|\p{L}+(?: d[aeio]l?)?\P{L}*PowerPoint)$/u.test(title.trim());
}

/** The kind of a placeholder; `body` where the file does not say, `undefined` for other shapes. */
function placeholderOf(shape: XmlNode): string | undefined {
  const placeholder = at(shape, "nvSpPr", "nvPr", "ph");
  return placeholder && (placeholder.attributes["type"] ?? "body");
}

/** The text of each paragraph. */
function linesOf(body: XmlNode | undefined): string[] {
  return childrenOf(body, "p").map((paragraph) =>
    childrenOf(paragraph).map((run) => run.name === "br" ? "\n" : textOf(at(run, "t"))).join("").trim()
  ).filter((text) => text !== "");
}

/** Paragraphs as texts, and as lists where they have bullets; those of a placeholder have some by default. */
function* paragraphs(body: XmlNode | undefined, hasBullets: boolean): Generator<DocumentElement, void> {
  const list = new ListBuilder();
  const all = childrenOf(body, "p");
  const isList = hasBullets && all.length > 1;
  for (const paragraph of all) {
    const text = linesOf({ name: "", attributes: {}, children: [paragraph] }).join("\n");
    if (text === "") continue;
    const properties = at(paragraph, "pPr");
    const isOrdered = at(properties, "buAutoNum") !== undefined;
    const isItem = at(properties, "buNone") === undefined &&
      (isOrdered || at(properties, "buChar") !== undefined || isList);
    const item = { level: Number(properties?.attributes["lvl"] ?? 0), isOrdered };
    if (isItem && list.add(text, item)) continue;
    yield* list.take();
    if (isItem) list.add(text, item);
    else yield { category: "text", content: { text } };
  }
  yield* list.take();
}

function* toTable(table: XmlNode): Generator<DocumentElement, void> {
  const rows = childrenOf(table, "tr").map((row) =>
    childrenOf(row, "tc").map((cell): TableCell => {
      const isCovered = cell.attributes["hMerge"] === "1" || cell.attributes["vMerge"] === "1";
      return isCovered ? null : linesOf(at(cell, "txBody")).join("\n");
    })
  );
  const hasHeader = at(table, "tblPr")?.attributes["firstRow"] === "1" && rows.length > 1;
  const headers = hasHeader ? (rows[0] ?? []).map((cell) => String(cell ?? "")) : [];
  const body = hasHeader ? rows.slice(1) : rows;
  yield { category: "table", content: { headers, rows: body, total_rows: body.length } };
}
