/** Books (EPUB 2 and 3): their chapters in the order of reading. Scripts are left out, and nothing is fetched. */
import type { ElementContents } from "@a2c-smcp/sdk";
import type { DocumentElement, DocumentPage, OutlineSection } from "@a2c-smcp/sdk/provider";
import { declaredEncoding, decodeText } from "./decode_text.ts";
import {
  DocumentError,
  type ParsedDocument,
  type ParseInput,
  type ParseLimits,
  unreadable,
} from "./format.ts";
import { metaEncoding, toHtmlSyntax } from "./html/dom.ts";
import { readHtml } from "./html/mod.ts";
import { PictureRoom } from "./picture.ts";
import { divide, documentOf, headingsOf, sectionLevel } from "./sections.ts";
import { at, childrenOf, parseXml, textOf, type XmlNode } from "./xml.ts";
import { decodePath, resolvePart, ZipParts } from "./zip.ts";

const MAX_CHAPTERS = 10_000;

/** Opens a book. Its pages are its chapters, and the sections of a file that has several. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const book = new Book(bytes, limits);
  const { title, keywords, ...about } = book.metadata;
  const chapters = book.parts.map((part) => ({ part, elements: book.read(part) }));
  const elements = chapters.flatMap(({ elements }) => elements);
  const contents = book.contents();
  const pages: DocumentPage[] = [];
  const starts = new Map<string, number>();
  const level = sectionLevel(elements);
  for (const { part, elements } of chapters) {
    if (elements.length === 0) continue;
    starts.set(part, pages.length);
    const named = contents.find((entry) => entry.part === part)?.title;
    const [first, ...others] = divide(elements, {
      title: named ?? headingsOf(elements, 1)[0] ?? title ?? fileName,
      level,
    });
    if (first !== undefined) pages.push(named === undefined ? first : { ...first, title: named }, ...others);
  }
  if (pages.length === 0) pages.push({ title: fileName, elements: [] });
  const outline = contents.flatMap(({ title, level, part }): OutlineSection[] => {
    const start = starts.get(part);
    if (start === undefined) return [];
    // Several entries may lead into one file, whose pages begin with the headings that they name.
    const page = pages.findIndex((page, index) => index >= start && page.title === title);
    return [{ title, level, page: page < 0 ? start : page }];
  });
  return documentOf(pages, {
    elements,
    title,
    keywords,
    about,
    subject: about.description,
    ...(outline.length > 1 ? { outline } : {}),
    losses: book.losses,
  });
}

/** The lists of a table of contents, and its links: their addresses and words. */
const NAV_TAGS =
  /<(\/?ol)\b|<a\b[^<>]{0,400}?\bhref\s?=\s?["']([^"'<>]{0,1000})["'][^<>]{0,400}>([^]{0,1000}?)<\/a\s?>/gi;

interface ContentsEntry {
  readonly title: string;
  readonly level: number;
  /** The file that it leads to. */
  readonly part: string;
}

class Book {
  readonly #zip: ZipParts;
  readonly #limits: ParseLimits;
  readonly #package: XmlNode;
  /** The folder of the package file, empty or with `/` at its end. */
  readonly #folder: string;
  readonly #losses = new Set<string>();
  readonly #pictures = new PictureRoom();

  constructor(bytes: Uint8Array, limits: ParseLimits) {
    this.#zip = new ZipParts(bytes, limits);
    this.#limits = limits;
    const rootFile = at(this.#xml("META-INF/container.xml"), "container", "rootfiles", "rootfile");
    const path = decodePath(rootFile?.attributes["full-path"] ?? "");
    const root = at(this.#xml(path), "package");
    if (root === undefined) throw unreadable("damaged", "the file is damaged, or no book");
    this.#package = root;
    this.#folder = path.slice(0, path.lastIndexOf("/") + 1);
    const locked = new Set(this.#encrypted());
    if (this.parts.some((part) => locked.has(part.toLowerCase()))) {
      throw unreadable("encrypted", "the book is protected against copying; get it without a protection");
    }
  }

  get losses(): readonly string[] {
    return [...this.#losses];
  }

  get metadata() {
    const metadata = at(this.#package, "metadata");
    // Books of before 2007 have them one level below.
    const named = (name: string) =>
      [...childrenOf(metadata, name), ...childrenOf(at(metadata, "dc-metadata"), name)]
        .map((node) => textOf(node).replace(/\s+/g, " ").trim()).filter((text) => text !== "");
    const changed = childrenOf(metadata, "meta").find(({ attributes }) =>
      attributes["property"] === "dcterms:modified"
    );
    const description = named("description")[0];
    return {
      title: named("title")[0],
      author: named("creator").join(", ") || undefined,
      created: named("date")[0],
      changed: textOf(changed).trim() || undefined,
      language: named("language")[0],
      description: description && wordsOf(description, this.#limits),
      keywords: named("subject"),
    };
  }

  /** The files of the chapters, in their order. */
  get parts(): string[] {
    const hrefs = new Map(this.#manifest().map(({ id = "", href = "" }) => [id, href]));
    const refs = childrenOf(at(this.#package, "spine"), "itemref").slice(0, MAX_CHAPTERS);
    const parts = refs.flatMap(({ attributes }) => {
      const href = hrefs.get(attributes["idref"] ?? "");
      return href === undefined ? [] : [this.#resolve(href)];
    });
    return [...new Set(parts)];
  }

  /** The elements of a chapter. Links within the book lead nowhere here, so that only their words are shown. */
  read(part: string): DocumentElement[] {
    const bytes = this.#zip.bytes(part);
    if (bytes === undefined) {
      this.#losses.add("A chapter is missing in the file");
      return [];
    }
    const { text, losses } = decodeText(bytes, (head) => declaredEncoding(head) ?? metaEncoding(head));
    const reading = readHtml(toHtmlSyntax(text), this.#limits);
    for (const loss of [...losses, ...reading.losses]) this.#losses.add(loss);
    const folder = part.slice(0, part.lastIndexOf("/") + 1);
    const elements: DocumentElement[] = [];
    for (const element of reading.elements) {
      const { category, content } = element;
      if (category === "image") elements.push(this.#picture(content, folder));
      else if (category !== "link" || /^[a-z][a-z\d+.-]*:/i.test(content.url)) elements.push(element);
      else if (content.text !== "" && !isSaid(elements.at(-1), content.text)) {
        elements.push({ category: "text", content: { text: content.text } });
      }
    }
    return elements;
  }

  #picture(
    { description = "", url = "" }: ElementContents["image"],
    folder: string,
  ): DocumentElement {
    if (url === "" || /^[a-z][a-z\d+.-]*:/i.test(url)) {
      return { category: "image", content: { description, ...(url === "" ? {} : { url }) } };
    }
    const part = resolvePart(folder, decodePath(url.replace(/[?#].*$/, "")));
    return { category: "image", content: this.#pictures.partOf(this.#zip, part, description) };
  }

  /** The table of contents: that of EPUB 3, else that of EPUB 2. */
  contents(): ContentsEntry[] {
    const items = this.#manifest();
    const named = (fits: (item: Readonly<Record<string, string>>) => boolean) => {
      const href = items.find(fits)?.["href"];
      return href === undefined ? undefined : this.#resolve(href);
    };
    const nav = named(({ properties = "" }) => /(?:^|\s)nav(?:\s|$)/.test(properties));
    if (nav !== undefined) return this.#readNav(nav);
    const toc = at(this.#package, "spine")?.attributes["toc"];
    const ncx = named(({ id, "media-type": type }) =>
      toc === undefined ? type === "application/x-dtbncx+xml" : id === toc
    );
    try {
      return ncx === undefined ? [] : this.#readNcx(ncx);
    } catch (error) {
      if (error instanceof DocumentError) return [];
      throw error;
    }
  }

  #readNav(part: string): ContentsEntry[] {
    const text = this.#zip.text(part) ?? "";
    const start = /<nav\b[^<>]{0,400}?\btype\s?=\s?["'][^"'<>]{0,100}?\btoc\b/i.exec(text)?.index ?? 0;
    const end = text.indexOf("</nav", start);
    const tags = text.slice(start, end < 0 ? undefined : end)
      .matchAll(NAV_TAGS);
    const entries: ContentsEntry[] = [];
    let level = 0;
    for (const [, list, href, label = ""] of tags) {
      if (href === undefined) level += list?.startsWith("/") ? -1 : 1;
      else entries.push(...this.#entry({ title: wordsOf(label, this.#limits), level, href, from: part }));
    }
    return entries;
  }

  #readNcx(part: string): ContentsEntry[] {
    const entries: ContentsEntry[] = [];
    const visit = (node: XmlNode | undefined, level: number) => {
      for (const point of childrenOf(node, "navPoint")) {
        const title = textOf(at(point, "navLabel", "text")).replace(/\s+/g, " ").trim();
        const href = at(point, "content")?.attributes["src"] ?? "";
        entries.push(...this.#entry({ title, level, href, from: part }));
        visit(point, level + 1);
      }
    };
    visit(at(this.#xml(part), "ncx", "navMap"), 1);
    return entries;
  }

  #entry(
    { title, level, href, from }: Omit<ContentsEntry, "part"> & {
      readonly href: string;
      readonly from: string;
    },
  ): ContentsEntry[] {
    const folder = from.slice(0, from.lastIndexOf("/") + 1);
    const part = resolvePart(folder, decodePath(href.replace(/[?#].*$/, "")));
    return title === "" ? [] : [{ title, level: Math.max(level, 1), part }];
  }

  #manifest(): Readonly<Record<string, string>>[] {
    return childrenOf(at(this.#package, "manifest"), "item").map(({ attributes }) => attributes);
  }

  #resolve(href: string): string {
    return resolvePart(this.#folder, decodePath(href));
  }

  /** The files that are encrypted, in lower case; fonts often are. */
  #encrypted(): string[] {
    const list = at(this.#xml("META-INF/encryption.xml"), "encryption");
    return childrenOf(list, "EncryptedData").map((data) =>
      decodePath(at(data, "CipherData", "CipherReference")?.attributes["URI"] ?? "").toLowerCase()
    );
  }

  #xml(part: string): XmlNode | undefined {
    const text = this.#zip.text(part);
    return text === undefined ? undefined : parseXml(text, this.#limits);
  }
}

/** Whether the words of a link stand in the text before it. */
function isSaid(before: DocumentElement | undefined, words: string): boolean {
  const said = JSON.stringify(before?.content ?? "");
  return said.includes(JSON.stringify(words).slice(1, -1));
}

/** The words of a piece of HTML. */
function wordsOf(html: string, limits: ParseLimits): string {
  if (!/[<&]/.test(html)) return html.replace(/\s+/g, " ").trim();
  const { elements } = readHtml(`<body>${html}`, limits);
  return elements.map(({ category, content }) =>
    category === "text" || category === "heading" || category === "link" ? content.text : ""
  ).join(" ").replace(/\s+/g, " ").trim();
}
