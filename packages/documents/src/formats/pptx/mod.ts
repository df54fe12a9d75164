/** Presentations of PowerPoint and others (PPTX). */
import { annotation, MAX_TITLE_LENGTH, openingOf, tableOf } from "../sections.ts";
import { COVERED_FROM_ABOVE, COVERED_FROM_LEFT, type PlacedCell } from "../merged_cells.ts";
import { shorten } from "../../basics.ts";
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import {
  type DocumentFacts,
  type ParsedDocument,
  type ParseInput,
  unreadable,
  UnreadParts,
} from "../format.ts";
import { linesOf, OfficePackage, paragraphText, type Relationship } from "../ooxml.ts";
import { PAGE_PICTURE_BYTES } from "../picture.ts";
import { ListBuilder } from "../list_builder.ts";
import { mathText } from "../math.ts";
import { at, childrenOf, descendantsOf, textOf, type XmlNode } from "../xml.ts";
import { formatOrdinal } from "../number_formats.ts";

const OPENING_SLIDES = 3;
/** Shapes that only repeat what each slide has. */
const MARGINS = new Set(["dt", "sldNum", "ftr", "hdr", "sldImg"]);
/** What the frames that are read have in them. */
const FRAMES = ["tbl", "chart", "relIds", "oleObj"];
/** What trees of shapes have beside frames, with shapes and without content. */
const SHAPES = new Set(["sp", "cxnSp", "grpSp", "pic", "nvGrpSpPr", "grpSpPr", "extLst"]);

/** Opens a presentation. A page is a slide, with its notes. */
export function open({ bytes, limits }: ParseInput): ParsedDocument {
  const presentation = new Presentation(new OfficePackage(bytes, limits));
  return { facts: presentation.facts(), page: (index) => presentation.page(index) };
}

class Presentation {
  readonly #office: OfficePackage;
  /** The parts of the slides, in their order. */
  readonly #slides: readonly string[];

  constructor(office: OfficePackage) {
    this.#office = office;
    const { part, root } = office.main("presentation");
    const related = office.relationships(part);
    this.#slides = childrenOf(at(root, "sldIdLst"), "sldId").flatMap(({ attributes }) =>
      related.get(attributes["r:id"] ?? attributes["id"] ?? "")?.target ?? []
    );
  }

  facts(): DocumentFacts {
    const { title, subject, keywords, about } = this.#office.properties();
    const slides = this.#slides.map((part) => this.#slide(part));
    const pageTitles = slides.map((slide, index) => this.#titleOf(slide, index));
    const first = this.#slides.slice(0, OPENING_SLIDES).flatMap((_, index) => this.page(index).elements);
    const losses: string[] = [];
    if (this.#slides.length === 0) losses.push("The presentation has no slides");
    losses.push(...this.#office.losses);
    if (
      this.#office.names.some((name) => /^ppt\/media\/.*\.(mp4|m4v|avi|wmv|mov|mp3|wav|m4a)$/i.test(name))
    ) {
      losses.push("Sounds and videos are not shown");
    }
    // Charts have their numbers in embedded workbooks, which are no objects of a slide.
    if (slides.some((slide) => !descendantsOf(slide, "oleObj").next().done)) {
      losses.push("Embedded objects are not shown");
    }
    const unread = new UnreadParts();
    for (const slide of slides) {
      countUnread(at(slide, "cSld", "spTree"), unread);
      for (const { name } of childrenOf(at(slide, "cSld", "controls"))) unread.add(name);
    }
    losses.push(...unread.losses);
    return {
      title: title === undefined || isDefaultTitle(title) ? pageTitles[0] ?? title : title,
      pageCount: Math.max(this.#slides.length, 1),
      pageTitles,
      headings: pageTitles.slice(0, 200),
      keywords,
      about,
      opening: [...subject === undefined ? [] : [subject], openingOf(first)].join("\n").trim(),
      losses,
    };
  }

  page(index: number): DocumentPage {
    const part = this.#slides[index];
    if (part === undefined) return { title: "No slides", elements: [] };
    const slide = this.#slide(part);
    const related = this.#office.relationships(part);
    this.#office.pictures.leftBytes = PAGE_PICTURE_BYTES;
    const reader = new SlideReader(this.#office, related);
    const elements = [
      ...reader.read(at(slide, "cSld", "spTree")),
      ...this.#notes(part),
      ...this.#comments(part),
    ];
    return { title: this.#titleOf(slide, index), elements };
  }

  #slide(part: string): XmlNode {
    const slide = at(this.#office.xml(part), "sld");
    if (slide === undefined) throw unreadable("damaged", "a slide is missing");
    return slide;
  }

  #titleOf(slide: XmlNode, index: number): string {
    const title = [...descendantsOf(slide, "sp")].find((shape) => /title/i.test(placeholderOf(shape) ?? ""));
    const text = title === undefined ? "" : linesOf(at(title, "txBody")).join(" ").trim();
    const name = text === "" ? `Slide ${index + 1}` : shorten(text.replace(/\s+/g, " "), MAX_TITLE_LENGTH);
    return slide.attributes["show"] === "0" ? `${name} (hidden)` : name;
  }

  #notes(part: string): DocumentElement[] {
    const [target = ""] = this.#office.related(part, "notesSlide");
    const notes = at(this.#office.xml(target), "notes");
    const text = [...descendantsOf(notes, "sp"), ...descendantsOf(notes, "tc")]
      .filter((shape) => !MARGINS.has(placeholderOf(shape) ?? ""))
      // A number of a page is a field alone.
      .filter((shape) => ["r", "m"].some((name) => descendantsOf(shape, name).next().done !== true))
      .flatMap((shape) => numberedLines(at(shape, "txBody"))).join("\n");
    return text === "" ? [] : [annotation("Notes of the speaker", { text, kind: "notes" })];
  }

  #comments(part: string): DocumentElement[] {
    const comments = this.#office.related(part, "comments")
      .flatMap((target) => [...descendantsOf(this.#office.xml(target), "cm")]);
    const toNote = (label: string, comment: XmlNode): DocumentElement => {
      const { dt, created = dt } = comment.attributes;
      const text = (textOf(at(comment, "text")) || linesOf(at(comment, "txBody")).join("\n")).trim();
      return annotation(label, { text, ...(created ? { created_at: created } : {}) });
    };
    return comments.flatMap((comment) => [
      toNote("Comment", comment),
      ...[...descendantsOf(comment, "reply")].map((reply) => toNote("Reply", reply)),
    ]);
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
    for (const shape of childrenOf(tree).filter((shape) => !isHidden(shape))) {
      switch (shape.name) {
        case "sp":
        case "cxnSp":
          yield* this.#shape(shape);
          break;
        case "grpSp":
          yield* this.read(shape);
          break;
        case "pic":
        case "graphicFrame":
          yield* this.#frame(shape);
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
    yield* formulasIn(body);
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

  *#frame(frame: XmlNode): Generator<DocumentElement, void> {
    const table = at(frame, "graphic", "graphicData", "tbl");
    if (table !== undefined) {
      yield toTable(table);
      yield* formulasIn(table);
      yield* this.#links(table);
    }
    yield* this.#office.drawn(frame, this.#related);
  }
}

function* formulasIn(body: XmlNode | undefined): Generator<DocumentElement, void> {
  for (const formula of descendantsOf(body, "oMath")) {
    yield { category: "formula", content: { expression: mathText(formula).trim() } };
  }
}

/** Whether a shape is turned off in the pane of the selection. */
function isHidden(shape: XmlNode): boolean {
  const [properties] = childrenOf(shape);
  return ["1", "true"].includes(at(properties, "cNvPr")?.attributes["hidden"] ?? "");
}

/** Counts what {@linkcode SlideReader} does not read. */
function countUnread(tree: XmlNode | undefined, unread: UnreadParts): void {
  for (const shape of childrenOf(tree)) {
    if (isHidden(shape)) unread.add("hidden shape");
    else if (shape.name === "grpSp") countUnread(shape, unread);
    else if (shape.name === "graphicFrame") {
      const data = at(shape, "graphic", "graphicData");
      const { uri = "unknown" } = data?.attributes ?? {};
      if (!FRAMES.some((name) => at(data, name))) {
        unread.add(`frame of the kind ${uri.slice(uri.lastIndexOf("/") + 1)}`);
      }
    } else if (!SHAPES.has(shape.name)) unread.add(shape.name);
  }
}

/** Whether PowerPoint has set the title itself, in one of its languages: "PowerPoint Presentation" and the like. */
function isDefaultTitle(title: string): boolean {
  return /^(?:PowerPoint\P{L}*\p{L}+|\p{L}+(?: d[aeio]l?)?\P{L}*PowerPoint)$/u.test(title.trim());
}

/** The kind of a placeholder; `body` where the file does not say, `undefined` for other shapes. */
function placeholderOf(shape: XmlNode): string | undefined {
  const placeholder = at(shape, "nvSpPr", "nvPr", "ph");
  return placeholder && (placeholder.attributes["type"] ?? "body");
}

/** Paragraphs as texts, and as lists where they have bullets; those of a placeholder have some by default. */
function* paragraphs(body: XmlNode | undefined, hasBullets: boolean): Generator<DocumentElement, void> {
  const list = new ListBuilder();
  const numbers = new SlideNumbers();
  const all = childrenOf(body, "p");
  const isList = hasBullets && all.length > 1;
  for (const paragraph of all) {
    const text = paragraphText(paragraph);
    if (text === "") continue;
    const { level, label, bullet } = numbers.next(at(paragraph, "pPr"), at(body, "lstStyle"));
    const isItem = bullet ?? isList;
    if (isItem && list.add(text, { level, label })) continue;
    yield* list.take();
    if (isItem) list.add(text, { level, label });
    else yield { category: "text", content: { text } };
  }
  yield* list.take();
}

/** The text of each paragraph, behind its number. */
function numberedLines(body: XmlNode | undefined): string[] {
  const numbers = new SlideNumbers();
  return childrenOf(body, "p").flatMap((paragraph) => {
    const text = paragraphText(paragraph);
    if (text === "") return [];
    return `${numbers.next(at(paragraph, "pPr"), at(body, "lstStyle")).label ?? ""} ${text}`.trim();
  });
}

function toTable(table: XmlNode): DocumentElement {
  const rows = childrenOf(table, "tr").map((row) =>
    childrenOf(row, "tc").map((cell): PlacedCell => {
      if (cell.attributes["vMerge"] === "1") return COVERED_FROM_ABOVE;
      if (cell.attributes["hMerge"] === "1") return COVERED_FROM_LEFT;
      return numberedLines(at(cell, "txBody")).join("\n");
    })
  );
  const hasHeader = at(table, "tblPr")?.attributes["firstRow"] === "1" && rows.length > 1;
  return tableOf(rows, hasHeader ? 1 : 0);
}

/** The names of formats in DrawingML (ECMA-376, 20.1.10.61), by how they begin. */
const FORMATS: readonly (readonly [prefix: string, format: string])[] = [
  ...[["alphaLc", "lowerLetter"], ["alphaUc", "upperLetter"], ["romanLc", "lowerRoman"]] as const,
  ...[["romanUc", "upperRoman"], ["circleNum", "decimalEnclosedCircle"], ["ea1", "chineseCounting"]] as const,
  ...[["thaiAlpha", "thaiLetters"], ["hebrew", "hebrew2"], ["arabic1Minus", "arabicAlpha"]] as const,
  ["arabicDb", "decimalFullWidth"],
];

/** Counts the paragraphs of a shape: PowerPoint computes their numbers when it shows them. */
class SlideNumbers {
  #counters: { readonly scheme: string; number: number }[] = [];

  /**
   * How the next paragraph with these properties is marked, in a shape with these styles. Whether it has a number or a
   * bullet is `undefined` where the slide does not say.
   */
  next(properties: XmlNode | undefined, styles: XmlNode | undefined) {
    const level = Math.min(Number(properties?.attributes["lvl"] ?? 0) || 0, 8);
    const has = (name: string) => at(properties, name) !== undefined;
    const own = ["buNone", "buChar", "buBlip", "buAutoNum"].some(has)
      ? properties
      : at(styles, `lvl${level + 1}pPr`);
    const numbered = at(own, "buAutoNum");
    this.#counters = this.#counters.slice(0, level + 1);
    if (numbered === undefined) {
      delete this.#counters[level];
      const isBullet = (at(own, "buChar") ?? at(own, "buBlip")) !== undefined;
      return {
        level,
        label: undefined,
        bullet: at(own, "buNone") !== undefined ? false : isBullet || undefined,
      };
    }
    const { type = "arabicPeriod", startAt = "1" } = numbered.attributes;
    const before = this.#counters[level];
    const scheme = `${type} ${startAt}`;
    const number = before?.scheme === scheme ? before.number + 1 : Number(startAt) || 1;
    this.#counters[level] = { scheme, number };
    return { level, label: labelOf(number, type), bullet: true };
  }
}

function labelOf(number: number, type: string): string {
  const text = formatOrdinal(number, FORMATS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "decimal");
  if (type.endsWith("ParenBoth")) return `(${text})`;
  if (type.endsWith("ParenR")) return `${text})`;
  return type.endsWith("Plain") ? text : type.endsWith("Minus") ? `${text}-` : `${text}.`;
}
