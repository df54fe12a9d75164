/** What the formats of Office Open XML share: relationships between parts, properties, charts. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "./about.ts";
import { type AboutFile, type ParseLimits, unreadable } from "./format.ts";
import { PictureRoom } from "./picture.ts";
import { at, childrenOf, descendantsOf, parseXml, textOf, type XmlNode } from "./xml.ts";
import { resolvePart, ZipParts } from "./zip.ts";
import { mathText } from "./math.ts";
import { joinText, type TextForm } from "./raised_text.ts";
import { symbolText } from "./symbol_fonts.ts";

/** Smaller pictures are always sent along. */
const SMALL_PICTURE_BYTES = 256 * 1024;

/** How many values of a series of a chart are listed. */
const MAX_CHART_VALUES = 40;

export interface Relationship {
  readonly id: string;
  /** The end of its type, such as `image` or `hyperlink`. */
  readonly type: string;
  /** The name of the other part, or an address when it is external. */
  readonly target: string;
  readonly isExternal: boolean;
}

export class OfficePackage {
  readonly pictures = new PictureRoom({ freeBytes: SMALL_PICTURE_BYTES });
  readonly #parts: ZipParts;
  readonly #limits: ParseLimits;
  readonly #related = new Map<string, ReadonlyMap<string, Relationship>>();

  constructor(bytes: Uint8Array, limits: ParseLimits) {
    this.#parts = new ZipParts(bytes, limits);
    this.#limits = limits;
  }

  /** The names of the parts, in lower case. */
  get names(): readonly string[] {
    return this.#parts.names;
  }

  /** What no office file shows. */
  get losses(): string[] {
    return this.names.some((name) => name.endsWith("vbaproject.bin")) ? ["Macros are not shown"] : [];
  }

  /** The main part and its root element, which has the name of the format. */
  main(name: string): { readonly part: string; readonly root: XmlNode } {
    const [part = ""] = this.related("", "officeDocument");
    const root = at(this.xml(part), name);
    if (root !== undefined) return { part, root };
    throw unreadable("damaged", `the file is damaged, or no ${name} of this format`);
  }

  /** The XML of a part; `undefined` when there is none. */
  xml(name: string): XmlNode | undefined {
    const text = this.#parts.text(name);
    return text === undefined ? undefined : parseXml(text, this.#limits);
  }

  bytes(name: string): Uint8Array | undefined {
    return this.#parts.bytes(name);
  }

  /** The bytes of a part in UTF-8. */
  utf8(name: string): Uint8Array | undefined {
    return this.#parts.utf8(name);
  }

  /** The parts that a part has a relationship of a type with, such as `comments`. */
  related(part: string, type: string): string[] {
    return [...this.relationships(part).values()].filter((each) => each.type === type)
      .map(({ target }) => target);
  }

  relationships(part: string): ReadonlyMap<string, Relationship> {
    const known = this.#related.get(part) ?? this.#readRelationships(part);
    this.#related.set(part, known);
    return known;
  }

  #readRelationships(part: string): ReadonlyMap<string, Relationship> {
    const slash = part.lastIndexOf("/");
    const folder = part.slice(0, slash + 1);
    const list = at(this.xml(`${folder}_rels/${part.slice(slash + 1)}.rels`), "Relationships");
    const relationships = childrenOf(list, "Relationship").map(({ attributes }): [string, Relationship] => {
      const { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode } = attributes;
      const isExternal = mode === "External";
      return [id, {
        id,
        type: type.slice(type.lastIndexOf("/") + 1),
        target: isExternal ? target : resolvePart(folder, target),
        isExternal,
      }];
    });
    return new Map(relationships);
  }

  /** The properties that its author set, and those that programs noted. */
  properties(): {
    readonly title?: string;
    readonly subject?: string;
    readonly keywords: readonly string[];
    readonly about: AboutFile;
  } {
    const core = at(this.xml("docProps/core.xml"), "coreProperties");
    const read = (name: string) => textOf(at(core, name)).trim();
    // Libraries that write files name themselves in the description.
    const description = read("description").replace(/^generated (?:by|using|with) \S+$/i, "");
    const [title, subject] = [read("title"), read("subject") || description];
    return {
      ...(title === "" ? {} : { title }),
      ...(subject === "" ? {} : { subject }),
      about: aboutFile({
        author: read("creator").split(/\s*;\s*/).join(", "),
        created: read("created"),
        changed: read("modified"),
        description: description || read("subject"),
        language: read("language"),
      }),
      keywords: read("keywords").split(/[,;]/).map((word) => word.trim()).filter((word) => word !== ""),
    };
  }

  /**
   * The texts, pictures, charts and diagrams of a drawing or a frame, in their order; without tables and Word's boxes.
   *
   * @param related the relationships of the part that the drawing is in
   */
  *drawn(
    node: XmlNode | undefined,
    related: ReadonlyMap<string, Relationship>,
    { said = "", named = "" } = {},
  ): Generator<DocumentElement, void> {
    // What the author says of a drawing holds for its picture, whose own description may be the name of a file.
    const { descr = "", title = "", name = "" } =
      (at(node, "docPr") ?? at(node, "nvPicPr", "cNvPr"))?.attributes ?? {};
    const words = { said: said || descr || title, named: named || name };
    for (const child of childrenOf(node)) {
      const { embed, link, id, dm } = child.attributes;
      const target = related.get(embed ?? link ?? dm ?? id ?? "");
      if (["txbxContent", "oleObj", "tbl"].includes(child.name)) continue;
      // WordArt has its text as an attribute.
      const text = child.name === "txBody" ? linesOf(child).join("\n") : child.attributes["string"] ?? "";
      if (text !== "") yield { category: "text", content: { text } };
      if (!["blip", "imagedata", "chart", "relIds"].includes(child.name)) {
        yield* this.drawn(child, related, words);
      } else if (target === undefined) continue;
      else if (child.name === "chart") yield* this.#chart(target.target);
      else if (child.name === "relIds") yield* this.#diagram(target.target);
      else yield this.#picture(target, words.said || words.named);
    }
  }

  /** A picture, with its bytes while there is room; one that is not in the file has its address. */
  #picture({ target: part, isExternal }: Relationship, description: string): DocumentElement {
    if (isExternal) return { category: "image", content: { description, url: part } };
    return { category: "image", content: this.pictures.partOf(this.#parts, part, description) };
  }

  /** A chart: its kind, its title, and its series with their values. */
  *#chart(part: string): Generator<DocumentElement, void> {
    const root = at(this.xml(part), "chartSpace");
    const plot = at(root, "chart");
    if (plot === undefined) return;
    // A chart may combine several kinds, such as columns with a line.
    const kinds = new Set(
      childrenOf(at(plot, "plotArea")).flatMap(({ name }) => /^(\w+?)(?:3D)?Chart$/.exec(name)?.[1] ?? []),
    );
    const area = at(plot, "plotArea");
    const title = titleText(at(plot, "title"));
    const axes = childrenOf(area).map((axis) => titleText(at(axis, "title"))).filter((text) => text !== "");
    const series = [
      ...axes.length === 0 ? [] : [`axes: ${axes.join(", ")}`],
      ...[...descendantsOf(area, "ser")].map(seriesText),
      // The kinds of charts since 2016 have their values apart.
      ...childrenOf(at(root, "chartData"), "data").map(seriesText),
    ];
    yield {
      category: "chart",
      content: {
        title: title === "" ? "Chart" : title,
        ...(kinds.size === 0 ? {} : { chart_type: [...kinds].join(" and ") }),
        data_summary: series.join("; "),
      },
    };
  }

  /** A diagram (SmartArt): its texts in the order of its tree, each indented below what it belongs to. */
  *#diagram(part: string): Generator<DocumentElement, void> {
    const model = at(this.xml(part), "dataModel");
    const points = new Map(
      childrenOf(at(model, "ptLst"), "pt").map((point) => [point.attributes["modelId"] ?? "", point]),
    );
    const below = new Map<string, XmlNode[]>();
    for (const link of childrenOf(at(model, "cxnLst"), "cxn")) {
      const { type = "parOf", srcId = "" } = link.attributes;
      if (type !== "parOf") continue;
      if (!below.has(srcId)) below.set(srcId, []);
      below.get(srcId)?.push(link);
    }
    const lines: string[] = [];
    const visit = (id: string, depth: number) => {
      const point = points.get(id);
      if (point === undefined || depth > this.#limits.maxDepth) return;
      points.delete(id);
      const text = linesOf(at(point, "t")).join(" / ");
      if (text !== "") lines.push("  ".repeat(Math.max(depth - 1, 0)) + text);
      const links = below.get(id) ?? [];
      links.sort((a, b) => Number(a.attributes["srcOrd"]) - Number(b.attributes["srcOrd"]));
      for (const { attributes } of links) visit(attributes["destId"] ?? "", depth + 1);
    };
    const roots = [...points].filter(([, { attributes }]) => attributes["type"] === "doc").map(([id]) => id);
    // Whatever is in no tree comes last.
    for (const id of [...roots, ...points.keys()]) visit(id, 0);
    if (lines.length > 0) yield { category: "diagram", content: { description: lines.join("\n") } };
  }
}

/** A title that is written, or taken from a cell. */
function titleText(title: XmlNode | undefined): string {
  const written = [...descendantsOf(title, "rich")].flatMap(linesOf);
  return (written.length > 0 ? written : [...descendantsOf(title, "v")].map(textOf)).join(" ").trim();
}

function seriesText(series: XmlNode): string {
  const name = [...descendantsOf(at(series, "tx"), "v")].map(textOf).join(" ").trim();
  const part = (...names: readonly string[]) => pointsOf(names.map((each) => at(series, each)).find(Boolean));
  const [categories, values] = [part("cat", "xVal", "strDim"), part("val", "yVal", "numDim")];
  const shown = values.slice(0, MAX_CHART_VALUES).map((value, index) =>
    categories[index] === undefined ? value : `${categories[index]}: ${value}`
  );
  const more = values.length - shown.length;
  return `${name === "" ? "" : `${name}: `}${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function pointsOf(node: XmlNode | undefined): string[] {
  return [...descendantsOf(node, "pt")].map((point) => {
    const value = textOf(at(point, "v") ?? point);
    // Numbers of the computer have more digits than those of the author.
    const isNoisy = /^-?\d*\.\d+(?:e[-+]?\d+)?$/i.test(value) && value.replace(/\D/g, "").length > 15;
    return isNoisy ? String(Number(Number(value).toPrecision(15))) : value;
  });
}

/** The text of each paragraph, without empty ones. */
export function linesOf(body: XmlNode | undefined): string[] {
  return childrenOf(body, "p").map(paragraphText).filter((text) => text !== "");
}

export function paragraphText(paragraph: XmlNode): string {
  return joinText(childrenOf(paragraph).map(pieceOf)).trim();
}

function pieceOf(run: XmlNode): TextForm & { readonly text: string } {
  if (run.name === "br") return { text: "\n" };
  if (run.name === "m") return { text: ` ${childrenOf(run).map(mathText).join("").trim()} ` };
  const properties = at(run, "rPr");
  const { baseline = "0", strike = "noStrike" } = properties?.attributes ?? {};
  const offset = Number.parseFloat(baseline);
  const font = (name: string) => at(properties, name)?.attributes["typeface"];
  const text = symbolText(textOf(at(run, "t")), font("latin"));
  return {
    text: symbolText(text, font("sym"), { hasLetters: false }),
    position: offset > 0 ? "raised" : offset < 0 ? "lowered" : undefined,
    isStruck: strike !== "noStrike",
  };
}

/** The form of a run; what its properties do not say is missing. */
export interface RunForm extends TextForm {
  readonly isHidden?: boolean;
  readonly font?: string;
  /** Whether the run is deleted by a tracked change. */
  readonly isDeleted?: boolean;
}

const POSITIONS: Readonly<Record<string, TextForm["position"]>> = {
  superscript: "raised",
  subscript: "lowered",
};

/** What the properties of a run, or of a style or a font, say of its form. */
export function formOf(properties: XmlNode | undefined): RunForm {
  let form: RunForm = {};
  for (const property of childrenOf(properties)) {
    const { val = "", ascii, hAnsi = ascii } = property.attributes;
    if (property.name === "vertAlign") form = { ...form, position: POSITIONS[val] };
    else if (property.name === "strike") {
      form = { ...form, isStruck: isOn(property) || form.isStruck === true };
    } else if (property.name === "dstrike" && isOn(property)) form = { ...form, isStruck: true };
    else if (property.name === "vanish") form = { ...form, isHidden: isOn(property) };
    else if (property.name === "rFont" || property.name === "name") form = { ...form, font: val };
    else if (property.name === "rFonts" && hAnsi !== undefined) form = { ...form, font: ascii ?? hAnsi };
  }
  return form;
}

/** Whether a property is there, and not turned off. */
export function isOn(toggle: XmlNode | undefined): boolean {
  return toggle !== undefined && !["0", "false", "off"].includes(toggle.attributes["val"] ?? "");
}
