/** PDF, read by PDF.js. Nothing is drawn, no script runs, and nothing is fetched. */
import { getDocumentProxy } from "unpdf";
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { shorten } from "../../basics.ts";
import {
  DocumentError,
  type DocumentFacts,
  type PageOptions,
  type ParsedDocument,
  type ParseInput,
  unreadable,
} from "../format.ts";
import { headingsOf, openingOf } from "../sections.ts";
import { type PdfAnnotation, toAnnotationElements } from "./annotations.ts";
import { type BodyLook, isBoldName, lookOf, toBlocks } from "./blocks.ts";
import { inColumns } from "./columns.ts";
import { CMapFactory } from "./cmaps.ts";
import { aboutPdf, ownText } from "./metadata.ts";
import { MAX_NAME, nameOfPage, type PdfOutline, readOutline } from "./outline.ts";
import {
  type Direction,
  directionOf,
  operatorsOf,
  type PageOperators,
  type Pdf,
  type PdfPage,
  turnOperators,
  turnRect,
  turnText,
} from "./operators.ts";
import { figures, type PagePictures, picturesOf, scannedPage, scansOf } from "./pictures.ts";
import { withLists } from "./list_items.ts";
import { withoutOverprint } from "./overprint.ts";
import { type RuledTable, ruledTables, rulingsOf } from "./tables/ruled.ts";
import { withAccents } from "./accents.ts";
import { type Line, type TextItem, textOf, toLines, withoutForms } from "./lines.ts";
import { correctByGlyphs, divideAtGaps, needsGlyphs, textGapsOf, withSigns } from "./text_gaps.ts";
import { lettersOf, type StructureNode, toTaggedElements } from "./tags.ts";

/** How many pages show how the running text looks. */
const LOOK_PAGES = 4;
/** How many pages show what stands above many. */
const RUNNING_PAGES = 4;
/** The most entries of the outline that are words to search by. */
const MAX_HEADINGS = 200;
/** With fewer letters, a page with a picture counts as scanned. */
const SCANNED_LETTERS = 8;
/** A page whose tags leave out more than this share of its text is read by its look. */
const MAX_UNTAGGED = 0.1;

/** A tagged block of so many lines is read by its look, too: whether it has a table, or so many blocks. */
const [MANY_LINES, MANY_BLOCKS] = [4, 4];

/** What is said of a page that was read without what it draws. */
const LEFT_OUT: DocumentElement = {
  category: "annotation",
  content: { text: "The pictures and lines of this page are left out: reading them exceeds the limits" },
  metadata: { is_notice: true },
};

/** Opens a PDF file. A page is a page. */
export async function open({ bytes, limits }: ParseInput): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes);
  const reader = new PdfReader(pdf, limits.maxDepth);
  return {
    facts: await reader.facts(),
    page: (index, options = { isPlain: false }) => reader.page(index, options).catch(toDocumentError),
    scans: (index) => reader.scans(index),
    close: () => void pdf.loadingTask.destroy(),
  };
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, {
      BinaryDataFactory: CMapFactory,
      useWorkerFetch: false,
      disableFontFace: true,
      enableXfa: false,
      stopAtErrors: false,
      verbosity: 0,
    });
  } catch (error) {
    return toDocumentError(error);
  }
}

/** PDF.js tells its errors apart by their names. */
function toDocumentError(error: unknown): never {
  if (error instanceof DocumentError) throw error;
  const name = error instanceof Error ? error.name : "";
  if (name === "PasswordException") {
    throw unreadable("encrypted", "the file is encrypted; save it without a password", { cause: error });
  }
  const message = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  throw unreadable("damaged", `the file is damaged (${message})`, { cause: error });
}

class PdfReader {
  readonly #pdf: Pdf;
  readonly #maxDepth: number;
  #look: Promise<BodyLook> | undefined;
  #isMarked: Promise<boolean> | undefined;
  #outline: Promise<PdfOutline> | undefined;
  #running: Promise<ReadonlySet<string>> | undefined;
  #labels: Promise<readonly string[] | null> | undefined;

  constructor(pdf: Pdf, maxDepth: number) {
    this.#pdf = pdf;
    this.#maxDepth = maxDepth;
  }

  async facts(): Promise<DocumentFacts> {
    const [metadata, outline, plain] = await Promise.all([
      this.#pdf.getMetadata().catch(() => undefined),
      this.#readOutline(),
      this.#elements(0, { isPlain: true }).catch(() => []),
    ]);
    const first = plain.some(({ content }) => "text" in content && needsGlyphs(`${content.text}`))
      ? await this.#elements(0, { isPlain: false }).catch(() => plain)
      : plain;
    const info = (metadata?.info ?? {}) as Readonly<Record<string, unknown>>;
    const own = headingsOf(first);
    const subject = ownText(info["Subject"]);
    return {
      title: ownText(info["Title"]) ?? own[0],
      pageCount: Math.max(this.#pdf.numPages, 1),
      headings: outline.titles.length > 0 ? outline.titles.slice(0, MAX_HEADINGS) : own,
      outline: outline.entries,
      about: await aboutPdf(metadata, await this.#readLabels()),
      keywords: `${info["Keywords"] ?? ""}`.split(/[,;]/).flatMap((word) => ownText(word) ?? []),
      opening: [...(subject === undefined ? [] : [subject]), openingOf(first)].join("\n").trim(),
      losses: await this.#losses(info),
    };
  }

  async page(index: number, { isPlain }: PageOptions): Promise<DocumentPage> {
    const elements = await this.#elements(index, { isPlain });
    const all = isPlain ? [...elements, LEFT_OUT] : elements;
    return { title: await this.#titleOf(index, elements), elements: all };
  }

  async scans(index: number): Promise<readonly Uint8Array<ArrayBuffer>[]> {
    const page = await this.#pdf.getPage(index + 1);
    try {
      const { items } = await page.getTextContent();
      const isText = lettersOf(items.filter((item) => "str" in item) as TextItem[]) >= SCANNED_LETTERS;
      return isText ? [] : scansOf(await picturesOf(page, await operatorsOf(page)));
    } finally {
      page.cleanup();
    }
  }

  async #elements(index: number, { isPlain }: PageOptions): Promise<readonly DocumentElement[]> {
    const page = await this.#pdf.getPage(index + 1);
    try {
      const [text, tree, annotations, operators] = await Promise.all([
        page.getTextContent({ includeMarkedContent: true } as never),
        page.getStructTree().catch(() => null),
        page.getAnnotations().catch(() => []),
        isPlain ? undefined : operatorsOf(page),
      ]);
      const { marked: found, direction } = textsOf(text.items as readonly MarkedItem[]);
      const upright = operators && turnOperators(operators, direction);
      const drawn = upright === undefined ? found : correctByGlyphs(withSigns(found, upright), upright);
      const marked = withAccents(drawn, isText);
      const items = marked.filter(isText);
      const content = await this.#tagged(tree as StructureNode | null, marked, items) ??
        await this.#untagged(page, items, upright);
      const turned = (annotations as readonly PdfAnnotation[]).map(({ rect, ...annotation }) =>
        rect === undefined ? annotation : { ...annotation, rect: turnRect(rect, direction) }
      );
      return [
        ...(operators ? withPictures(content, items, await picturesOf(page, operators)) : content),
        ...toAnnotationElements(turned, items),
      ];
    } finally {
      page.cleanup();
    }
  }

  /** `undefined` when the page has no tags, or poor ones: they leave out much of its text, or take much of it for one block. */
  async #tagged(
    tree: StructureNode | null,
    marked: readonly MarkedItem[],
    items: readonly TextItem[],
  ): Promise<DocumentElement[] | undefined> {
    if (tree === null || !await (this.#isMarked ??= this.#saysMarked())) return undefined;
    const contents = markedTexts(marked);
    const look = await (this.#look ??= this.#lookOfDocument());
    const byLook = (items: readonly TextItem[]) => toBlocks(toLines(items), look);
    const { elements, blocks, missing } = toTaggedElements(tree, contents, {
      maxDepth: this.#maxDepth,
      byLook,
    });
    const all = lettersOf(items);
    const inside = [...contents.values()].reduce((sum, texts) => sum + lettersOf(texts), 0);
    const isWhole = all - inside + missing <= all * MAX_UNTAGGED;
    const isPoor = blocks.some((block) => {
      const shown = toLines(block).length < MANY_LINES ? [] : byLook(block);
      return shown.some(({ category }) => category === "table") ||
        shown.length >= MANY_BLOCKS && lettersOf(block) * 2 >= all;
    });
    return elements.length > 0 && isWhole && !isPoor ? withLists(elements) : undefined;
  }

  /** Whether the file says that its tags are those of its whole content. */
  async #saysMarked(): Promise<boolean> {
    const facts = await this.#pdf.getMarkInfo().catch(() => null) as { readonly Marked?: boolean } | null;
    return facts?.Marked === true;
  }

  /** Each table with lines stands where its first text is; what is between them is told by its look. */
  async #untagged(
    page: PdfPage,
    joined: readonly TextItem[],
    operators: PageOperators | undefined,
  ): Promise<DocumentElement[]> {
    const items = inColumns(operators === undefined ? joined : divideAtGaps(joined, textGapsOf(operators)));
    const look: BodyLook = { ...await (this.#look ??= this.#lookOfDocument()), isBold: boldFonts(page) };
    const tables = operators === undefined ? [] : ruledTables(rulingsOf(operators), items);
    const elements: DocumentElement[] = [];
    let between: TextItem[] = [];
    const endText = () => {
      for (const element of toBlocks(toLines(between), look)) elements.push(element);
      between = [];
    };
    const shown = new Set<RuledTable>();
    for (const item of items) {
      const table = tables.find(({ items }) => items.has(item));
      if (table === undefined) between.push(item);
      else if (!shown.has(table)) {
        endText();
        elements.push(table.element);
        shown.add(table);
      }
    }
    endText();
    return elements;
  }

  async #lookOfDocument(): Promise<BodyLook> {
    const lines: Line[] = [];
    for (let number = 1; number <= Math.min(this.#pdf.numPages, LOOK_PAGES); number++) {
      for (const line of await this.#linesOf(number)) lines.push(line);
    }
    return lookOf(lines, () => false);
  }

  /** The lines of a page, by its number from 1. A damaged page costs the others nothing. */
  async #linesOf(number: number): Promise<Line[]> {
    const page = await this.#pdf.getPage(number).catch(() => undefined);
    const text = await page?.getTextContent().catch(() => undefined);
    return toLines(textsOf(text?.items ?? []).items);
  }

  async #titleOf(index: number, elements: readonly DocumentElement[]): Promise<string> {
    const label = (await this.#readLabels())?.[index] || `${index + 1}`;
    const { entries } = await this.#readOutline();
    const name = nameOfPage(entries, index) ?? await this.#ownHeading(index, elements);
    return name === undefined ? `Page ${label}` : `Page ${label}: ${shorten(name, MAX_NAME)}`;
  }

  /** The first heading of a page that does not stand above others as well. */
  async #ownHeading(index: number, elements: readonly DocumentElement[]): Promise<string | undefined> {
    const headings = headingsOf(elements, MAX_HEADINGS);
    if (index === 0 || headings.length === 0) return headings[0];
    const running = await (this.#running ??= this.#runningTexts());
    return headings.find((heading) => !running.has(withoutNumbers(heading)));
  }

  /** The texts that several of some pages have, all over the document. */
  async #runningTexts(): Promise<ReadonlySet<string>> {
    const { numPages } = this.#pdf;
    const pages = new Set(
      Array.from({ length: RUNNING_PAGES }, (_, at) => Math.ceil(numPages * (at + 1) / (RUNNING_PAGES + 1))),
    );
    const counts = new Map<string, number>();
    for (const number of pages) {
      const texts = new Set((await this.#linesOf(number)).map((line) => withoutNumbers(textOf(line))));
      for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return new Set([...counts].filter(([, count]) => count > 1).map(([text]) => text));
  }

  #readOutline(): Promise<PdfOutline> {
    return this.#outline ??= readOutline(this.#pdf);
  }

  #readLabels(): Promise<readonly string[] | null> {
    return this.#labels ??= this.#pdf.getPageLabels().catch(() => null);
  }

  async #losses(info: Readonly<Record<string, unknown>>): Promise<string[]> {
    const losses: string[] = [];
    // A Map since PDF.js 6.1, of which its types know nothing.
    const attachments: unknown = await this.#pdf.getAttachments().catch(() => null);
    const count = attachments instanceof Map ? attachments.size : 0;
    if (count > 0) losses.push(`Attached files are not shown: ${count}`);
    if (info["IsXFAPresent"] === true) losses.push("A form in XFA is not shown");
    if (info["IsSignaturesPresent"] === true) losses.push("Signatures are not checked");
    if (await this.#pdf.getJSActions().catch(() => null) !== null) losses.push("Scripts are not run");
    return losses;
  }
}

/** Pictures that no tag describes follow the text. */
function withPictures(
  content: readonly DocumentElement[],
  items: readonly TextItem[],
  pictures: PagePictures,
): readonly DocumentElement[] {
  if (pictures.count === 0) return content;
  const letters = lettersOf(items);
  if (letters < SCANNED_LETTERS) return [scannedPage(pictures, letters), ...content];
  return content.some(({ category }) => category === "image") ? content : [...content, ...figures(pictures)];
}

/** A running text differs from page to page by its numbers alone. */
function withoutNumbers(text: string): string {
  return text.replace(/[\d\s]+/g, " ").trim();
}

type MarkedItem = TextItem | { readonly type: string; readonly id?: string };

function isText(item: MarkedItem): item is TextItem {
  return "str" in item;
}

/** The texts of a page, upright. */
function textsOf(
  given: readonly MarkedItem[],
): {
  readonly marked: readonly MarkedItem[];
  readonly items: readonly TextItem[];
  readonly direction: Direction;
} {
  const direction = directionOf(given.filter(isText));
  const marked = withoutOverprint(
    given.map((item) => isText(item) ? turnText({ ...item, str: withoutForms(item.str) }, direction) : item),
  );
  return { marked, items: marked.filter(isText), direction };
}

/** The texts of each marked content that has an id. */
function markedTexts(items: readonly MarkedItem[]): Map<string, readonly TextItem[]> {
  const contents = new Map<string, TextItem[]>();
  /** The id that holds inside of each of the contents that have begun. */
  const open: (string | undefined)[] = [];
  for (const item of items) {
    if (isText(item)) {
      const id = open.at(-1);
      if (id !== undefined) contents.get(id)?.push(item);
    } else if (item.type === "endMarkedContent") open.pop();
    else {
      open.push(item.id ?? open.at(-1));
      if (item.id !== undefined && !contents.has(item.id)) contents.set(item.id, []);
    }
  }
  return contents;
}

/** Tells bold fonts by the names that the file gives them. */
function boldFonts(page: PdfPage): (font: string) => boolean {
  const fonts = page.commonObjs as unknown as {
    has(id: string): boolean;
    get(id: string): { name?: string };
  };
  return (font) => fonts.has(font) && isBoldName(fonts.get(font).name ?? "");
}
