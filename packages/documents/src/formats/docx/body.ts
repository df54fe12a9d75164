/** The body of a document: its paragraphs, lists, tables, pictures and notes, in order. */
import { COVERED_FROM_ABOVE, COVERED_FROM_LEFT, type PlacedCell } from "../merged_cells.ts";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { ListBuilder, type ListMark } from "../list_builder.ts";
import { isOn, type OfficePackage, type Relationship } from "../ooxml.ts";
import { tableOf } from "../sections.ts";
import { UnreadParts } from "../format.ts";
import { at, childrenOf, descendantsOf, type XmlNode } from "../xml.ts";
import { blocksOf, type DocumentParts, enclosed, PartReader } from "./inline.ts";
import { Numbering } from "./numbering.ts";
import { outlineLevel, type ParagraphKind, Styles } from "./styles.ts";

/** The most columns that one cell covers, or that a row leaves out. */
const MAX_SPAN = 63;

/** What is between two page breaks. */
export interface Segment {
  readonly elements: readonly DocumentElement[];
  /** The margins of the section that begins in it. */
  readonly margins: Margins;
}

/** Reads the body of a document into segments that page breaks divide. */
export class BodyReader {
  readonly #related: ReadonlyMap<string, Relationship>;
  readonly #parts: DocumentParts;
  readonly #reader: PartReader;
  readonly #hasEvenPages: boolean;
  readonly #segments: { readonly elements: DocumentElement[]; margins: Margins }[] = [];
  #sections: readonly Margins[] = [];
  #list = new ListBuilder();
  #code: string[] = [];

  constructor(office: OfficePackage, main: string, chunks: ReadonlyMap<string, readonly DocumentElement[]>) {
    this.#related = office.relationships(main);
    const partOf = (type: string) => office.related(main, type)[0] ?? "";
    const notes = ["footnote", "endnote", "comment"].flatMap((kind) => {
      const part = partOf(`${kind}s`);
      return childrenOf(at(office.xml(part), `${kind}s`), kind)
        .filter(({ attributes: { type = "normal" } }) => type === "normal")
        .map((node) => [`${kind} ${node.attributes["id"]}`, { node, part }] as const);
    });
    const styles = new Styles(office.xml(partOf("styles")));
    this.#hasEvenPages = isOn(at(office.xml(partOf("settings")), "settings", "evenAndOddHeaders"));
    this.#parts = {
      office,
      styles,
      numbering: new Numbering(office.xml(partOf("numbering")), styles),
      notes: new Map(notes),
      chunks,
      unread: new UnreadParts(),
    };
    this.#reader = new PartReader(this.#parts, main);
  }

  get losses(): readonly string[] {
    return this.#parts.unread.losses;
  }

  read(body: XmlNode): readonly Segment[] {
    const sections = [...descendantsOf(body, "sectPr")];
    this.#sections = readMargins(sections, {
      parts: this.#parts,
      related: this.#related,
      hasEven: this.#hasEvenPages,
    });
    this.#segments.push({ elements: [], margins: this.#sections[0] ?? NO_MARGINS });
    this.#sections = this.#sections.slice(1);
    this.#blocks(body);
    this.#endBlocks();
    return this.#segments;
  }

  #blocks(parent: XmlNode): void {
    for (const node of blocksOf(parent, this.#parts.unread)) {
      if (node.name === "p") this.#paragraph(node);
      else {
        this.#endBlocks();
        if (node.name === "tbl") this.#table(node);
        else this.#add(...this.#reader.chunk(node));
      }
    }
  }

  #paragraph(node: XmlNode): void {
    const properties = at(node, "pPr");
    if (isOn(at(properties, "pageBreakBefore"))) this.#breakPage();
    const { text, mark, others, boxes, hasPageBreak } = this.#reader.paragraph(node);
    const outline = outlineLevel(properties);
    const style = at(properties, "pStyle")?.attributes["val"] ?? "";
    const kind = outline === undefined ? this.#parts.styles.kindOf(style) : { heading: outline };
    if (text.trim() !== "") this.#addText(text, { kind, mark });
    if (others.length > 0 || boxes.length > 0) this.#endBlocks();
    this.#add(...others);
    for (const box of boxes) this.#blocks(box);
    const section = at(properties, "sectPr");
    if (hasPageBreak || isPageSection(section)) this.#breakPage();
    if (section !== undefined) this.#beginSection();
  }

  #addText(
    raw: string,
    { kind, mark }: { readonly kind: ParagraphKind; readonly mark: ListMark | undefined },
  ): void {
    const text = raw.trim();
    if (kind !== undefined && "heading" in kind) {
      this.#endBlocks();
      const whole = mark?.label === undefined ? text : `${mark.label} ${text}`;
      this.#add({ category: "heading", content: { level: kind.heading, text: whole.replace(/\s+/g, " ") } });
    } else if (kind !== undefined) {
      this.#add(...this.#list.take());
      this.#code.push(raw);
    } else if (mark !== undefined) {
      this.#endCode();
      if (!this.#list.add(text, mark)) {
        this.#add(...this.#list.take());
        this.#list.add(text, mark);
      }
    } else {
      this.#endBlocks();
      this.#add({ category: "text", content: { text } });
    }
  }

  #table(node: XmlNode): void {
    const rows: PlacedCell[][] = [];
    const others: DocumentElement[] = [];
    let hasHeader = false;
    for (const row of enclosed(node, "tr")) {
      const properties = at(row, "trPr");
      const gap = (name: string) => Array<null>(countOf(at(properties, name), 0)).fill(null);
      const cells = [...enclosed(row, "tc")].flatMap((cell): PlacedCell[] => {
        const properties = at(cell, "tcPr");
        const isContinued = (name: string) => {
          const merge = at(properties, name);
          return merge !== undefined && merge.attributes["val"] !== "restart";
        };
        const text = this.#reader.text(cell, others);
        const first = isContinued("vMerge")
          ? COVERED_FROM_ABOVE
          : isContinued("hMerge")
          ? COVERED_FROM_LEFT
          : text;
        const covered = Math.max(countOf(at(properties, "gridSpan"), 1), 1) - 1;
        return [first, ...Array<PlacedCell>(covered).fill(COVERED_FROM_LEFT)];
      });
      if (
        at(properties, "del") !== undefined && cells.every((cell) => typeof cell === "symbol" || cell === "")
      ) {
        continue;
      }
      if (rows.length === 0) hasHeader = isOn(at(properties, "tblHeader"));
      rows.push([...gap("gridBefore"), ...cells, ...gap("gridAfter")]);
    }
    if (rows.length === 0) return;
    // Most tables begin with the names of their columns, also where the file does not say so.
    const isHeader = rows.length > 1 &&
      (hasHeader || rows[0]?.every((cell) => typeof cell === "string" && cell !== "") === true);
    this.#add(tableOf(rows, isHeader ? 1 : 0), ...others);
  }

  #add(...elements: DocumentElement[]): void {
    this.#segments.at(-1)?.elements.push(...elements);
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
    this.#segments.push({ elements: [], margins: NO_MARGINS });
  }

  #beginSection(): void {
    const [margins = NO_MARGINS, ...others] = this.#sections;
    this.#sections = others;
    const segment = this.#segments.at(-1);
    if (segment === undefined) return;
    const { header, footer } = segment.margins;
    segment.margins = { header: [...header, ...margins.header], footer: [...footer, ...margins.footer] };
  }
}

const NO_MARGINS: Margins = { header: [], footer: [] };

function countOf(node: XmlNode | undefined, fallback: number): number {
  return Math.min(Math.max(Number(node?.attributes["val"] ?? fallback) || fallback, 0), MAX_SPAN);
}

function isPageSection(section: XmlNode | undefined): boolean {
  return section !== undefined &&
    !["continuous", "nextColumn"].includes(at(section, "type")?.attributes["val"] ?? "");
}

/** The headers and footers of a section that differ from those of the section before it. */
export interface Margins {
  readonly header: readonly DocumentElement[];
  readonly footer: readonly DocumentElement[];
}

/**
 * Reads the margins of each section. A section without one of a kind has that of the section before.
 *
 * @param hasEven whether even pages have their own
 */
function readMargins(
  sections: readonly XmlNode[],
  { parts, related, hasEven }: {
    readonly parts: DocumentParts;
    readonly related: ReadonlyMap<string, Relationship>;
    readonly hasEven: boolean;
  },
): Margins[] {
  const targets = new Map<string, string>();
  const shown = new Map<string, string>();
  const known = new Map<string, ReturnType<typeof readMargin>>();
  return sections.map((section): Margins => {
    for (const { name, attributes: { type = "default", id = "" } } of childrenOf(section)) {
      const target = related.get(id)?.target;
      if (target !== undefined) targets.set(`${name} ${type}`, target);
    }
    const hasFirst = isOn(at(section, "titlePg"));
    const kinds = [
      ...hasFirst ? [["first", "first page"]] : [],
      ["default", hasFirst ? "other pages" : "odd pages"],
      ...hasEven ? [["even", "even pages"]] : [],
    ];
    const read = (category: "header" | "footer") =>
      kinds.flatMap(([kind, pages]): DocumentElement[] => {
        const target = targets.get(`${category}Reference ${kind}`) ?? "";
        if (!known.has(target)) known.set(target, readMargin(target, parts));
        const { text = "", others = [] } = known.get(target) ?? {};
        // Sections often have copies of the margins before them.
        if ((shown.get(`${category} ${kind}`) ?? "") === (text || target)) return [];
        shown.set(`${category} ${kind}`, text || target);
        if (text === "") return [...others];
        const place = kinds.length === 1 ? {} : { summary: `On ${pages}: ${text}`, content: { text, pages } };
        return [{ category, content: { text }, ...place }, ...others];
      });
    return { header: read("header"), footer: read("footer") };
  });
}

function readMargin(target: string, parts: DocumentParts) {
  const others: DocumentElement[] = [];
  const text = new PartReader(parts, target).text(childrenOf(parts.office.xml(target))[0], others).trim();
  // The pictures of margins are logos and the like.
  const pictures = others.filter(({ category }) => category === "image");
  for (const _ of pictures) parts.unread.add("picture in a header or footer");
  return { text, others: others.filter(({ category }) => category !== "image") };
}
