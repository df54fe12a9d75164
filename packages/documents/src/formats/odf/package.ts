/** Files of OpenDocument: their parts, styles and properties. They are zip files, or one XML file (`fodt`). */
import type { ElementContents } from "@a2c-smcp/sdk";
import { aboutFile } from "../about.ts";
import { decodeText } from "../decode_text.ts";
import { type AboutFile, type ParseLimits, unreadable } from "../format.ts";
import { formatOrdinal } from "../number_formats.ts";
import { PictureRoom } from "../picture.ts";
import { at, childrenOf, parseXml, textOf, type XmlNode } from "../xml.ts";
import { decodePath, isZipFile, resolvePart, ZipParts } from "../zip.ts";

/** How many styles may be based on each other. */
const MAX_PARENTS = 20;

/** How the numbers of a list are written at a level; without a format, its items have bullets. */
interface ListLevel {
  readonly format: string | undefined;
  readonly prefix: string;
  readonly suffix: string;
  readonly start: number;
  /** How many numbers of the levels above are written with it, itself included. */
  readonly shown: number;
}

const FORMATS: Readonly<Record<string, string>> = {
  "1": "decimal",
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};

export class OdfFile {
  readonly content: XmlNode;
  /** The part with the styles of the whole document. */
  readonly shared: XmlNode | undefined;
  readonly #parts: ZipParts | undefined;
  readonly #limits: ParseLimits;
  readonly #styles = new Map<string, XmlNode>();
  readonly #lists = new Map<string, ReadonlyMap<number, ListLevel>>();
  readonly #pictures = new PictureRoom();

  constructor(bytes: Uint8Array<ArrayBuffer>, limits: ParseLimits) {
    this.#limits = limits;
    this.#parts = isZipFile(bytes) ? new ZipParts(bytes, limits) : undefined;
    if (this.#parts?.text("META-INF/manifest.xml")?.includes("encryption-data")) {
      throw unreadable("encrypted", "the file is encrypted; save it without a password");
    }
    const flat = this.#parts === undefined
      ? at(parseXml(decodeText(bytes).text, limits), "document")
      : undefined;
    const content = flat ?? at(this.xml("content.xml"), "document-content");
    if (content === undefined) throw unreadable("damaged", "the file is damaged, or no OpenDocument file");
    this.content = content;
    this.shared = flat ?? at(this.xml("styles.xml"), "document-styles");
    for (const part of [this.shared, this.content]) {
      for (const group of ["styles", "automatic-styles"]) {
        for (const style of childrenOf(at(part, group))) this.#addStyle(style);
      }
    }
  }

  /** What is in the document, of a kind such as `text`. */
  body(kind: string): XmlNode | undefined {
    return at(this.content, "body", kind);
  }

  get about(): {
    readonly title: string | undefined;
    readonly keywords: readonly string[];
    readonly about: AboutFile;
  } {
    const meta = at(this.content, "meta") ?? at(this.xml("meta.xml"), "document-meta", "meta");
    const read = (name: string) => textOf(at(meta, name)).trim();
    return {
      title: read("title") || undefined,
      keywords: childrenOf(meta, "keyword").flatMap((node) => textOf(node).split(",")).map((word) =>
        word.trim()
      )
        .filter((word) => word !== ""),
      about: aboutFile({
        author: read("initial-creator") || read("creator"),
        created: read("creation-date"),
        changed: read("date"),
        description: [read("subject"), read("description")].filter((text) => text !== "").join("\n"),
        language: read("language"),
      }),
    };
  }

  xml(name: string): XmlNode | undefined {
    const text = this.#parts?.text(name);
    return text === undefined ? undefined : parseXml(text, this.#limits);
  }

  /** The content of an object that is embedded, such as a chart. */
  object(node: XmlNode): XmlNode | undefined {
    const { href } = node.attributes;
    if (href === undefined) return childrenOf(node)[0];
    return childrenOf(this.xml(`${resolvePart("", decodePath(href)).replace(/\/$/, "")}/content.xml`))[0];
  }

  /** A picture, with its bytes while there is room. */
  picture(node: XmlNode, description: string): ElementContents["image"] {
    const { href = "" } = node.attributes;
    const inside = textOf(at(node, "binary-data")).replace(/\s+/g, "");
    if (inside === "" && /^[a-z][a-z\d+.-]*:/i.test(href)) return { description, url: href };
    const part = resolvePart("", decodePath(href));
    if (inside === "" && this.#parts !== undefined) {
      return this.#pictures.partOf(this.#parts, part, description);
    }
    const read = () => Uint8Array.fromBase64(inside);
    return this.#pictures.take(inside.length * 0.75, read, { description, type: "unknown" });
  }

  /** A property of a style or of those that it is based on. */
  property(style: string, group: string, name: string): string | undefined {
    for (const node of this.#chain(style)) {
      const value = at(node, group)?.attributes[name];
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** An attribute of a style itself, or of those that it is based on. */
  styled(style: string, name: string): string | undefined {
    for (const node of this.#chain(style)) if (node.attributes[name]) return node.attributes[name];
    return undefined;
  }

  /** Whether a style, or one that it is based on, has such a name. */
  isStyled(style: string, name: RegExp): boolean {
    return name.test(style) ||
      this.#chain(style).some(({ attributes }) => name.test(attributes["name"] ?? ""));
  }

  /** The tags for the form that a style gives to letters. */
  tagsOf(style: string): readonly string[] {
    const read = (name: string) => this.property(style, "text-properties", name) ?? "";
    const position = read("text-position");
    const struck = read("text-line-through-style") || read("text-line-through-type");
    return [
      ...(/^(?:super|[1-9])/.test(position) ? ["sup"] : /^(?:sub|-)/.test(position) ? ["sub"] : []),
      ...(struck === "" || struck === "none" ? [] : ["s"]),
    ];
  }

  /** The label of an item, by the numbers of its level and those above; `undefined` for a bullet. */
  label(list: string, numbers: readonly number[]): string | undefined {
    const levels = this.#lists.get(list);
    const level = levels?.get(numbers.length);
    if (level?.format === undefined) return undefined;
    const shown = numbers.slice(-level.shown).map((number, index, all) => {
      const { format = "decimal" } = levels?.get(numbers.length - all.length + index + 1) ?? {};
      return formatOrdinal(number, format);
    });
    return `${level.prefix}${shown.join(".")}${level.suffix}`.trim() || undefined;
  }

  startOf(list: string, level: number): number {
    return this.#lists.get(list)?.get(level)?.start ?? 1;
  }

  #addStyle(style: XmlNode): void {
    const { name = "" } = style.attributes;
    if (style.name === "style") this.#styles.set(name, style);
    if (style.name !== "list-style" && style.name !== "outline-style") return;
    const levels = childrenOf(style).map(({ name, attributes }): [number, ListLevel] => {
      const { level = "", "num-format": sign = "", "num-prefix": prefix = "", "num-suffix": suffix = "" } =
        attributes;
      const format = /number|outline/.test(name) && sign !== "" ? FORMATS[sign] ?? "decimal" : undefined;
      const { "start-value": start = "1", "display-levels": shown = "1" } = attributes;
      return [Number(level), {
        format,
        prefix,
        suffix,
        start: Number(start) || 1,
        shown: Number(shown) || 1,
      }];
    });
    this.#lists.set(style.name === "outline-style" ? OUTLINE : name, new Map(levels));
  }

  *#chain(style: string): Generator<XmlNode, void> {
    let name: string | undefined = style;
    for (let depth = 0; depth < MAX_PARENTS && name !== undefined; depth++) {
      const node = this.#styles.get(name);
      if (node === undefined) return;
      yield node;
      name = node.attributes["parent-style-name"];
    }
  }
}

/** The list whose numbers headings have. */
export const OUTLINE = "\0outline";
