/** Writes the JSON of all four levels (`docs/protocol/finder.md#answers-by-level`). */
import { outlineWithin, type PageSpan } from "../../dpe/outline.ts";
import { renderElementMarkdown, renderPageMarkdown } from "../../dpe/markdown.ts";
import { renderElementText, renderPageText } from "../../dpe/text.ts";
import type {
  DPECatalogue,
  DPEDocument,
  DPEElementDetail,
  DPEFormat,
  DPEHit,
  DPEPage,
  DPEPageSummary,
  DPESearchGaps,
} from "../../protocol/dpe.ts";
import { organizeFinder } from "../../organizer/finder.ts";
import { type DpeQuery, dpeQueryOf, type DpeSearch, type DpeTextSearch } from "../../uri/dpe_query.ts";
import { buildDpeUri, type DpeUri } from "../../uri/dpe_uri.ts";
import type { Exchange } from "../session/json_rpc.ts";
import { type CountedDocument, DocumentReader, elementIdOf } from "./reader.ts";
import type {
  DocumentElement,
  DocumentHit,
  DocumentHits,
  DocumentInfo,
  DocumentPage,
  DocumentSource,
  PlacedElement,
} from "./source.ts";

/** Reads the content of a `dpe://` URI of this host. Throws 4201, 4202 or 4203 when it does not exist. */
export async function readContent(
  reader: DocumentReader,
  uri: DpeUri,
): Promise<DPECatalogue | DPEDocument | DPEPage | DPEElementDetail> {
  const { host, docRef, pageIndex, elementId } = uri;
  const query = dpeQueryOf(uri);
  if (docRef === undefined) {
    const found = query.textSearch && await findPages(reader, host, query.textSearch);
    if (found !== undefined) return found;
    const catalogue = {
      ...toCatalogue(host, await reader.catalogue()),
      ...toGaps({ notice: await reader.notice() }),
    };
    return query.search === undefined ? catalogue : searchIn(catalogue, query.search);
  }
  const document = await reader.document(docRef);
  if (pageIndex !== undefined) {
    return toPage({ host, docRef, pageIndex, query }, await reader.page(document, pageIndex));
  }
  if (elementId !== undefined) {
    return toElement({ host, docRef, elementId, query }, await reader.element(document, elementId));
  }
  return await toDocument({ host, query, document }, reader);
}

/** A document of a source, as its MCP server answers it. */
export function readableOf(
  source: DocumentSource,
  docRef: string,
  exchange: Pick<Exchange, "request" | "report">,
): {
  metadata(outline?: "all" | PageSpan): Promise<DPEDocument>;
  page(pageIndex: number, format: DPEFormat): Promise<DPEPage>;
  element(elementId: string, format: DPEFormat): Promise<DPEElementDetail>;
} {
  const { host } = source;
  const reader = new DocumentReader(source, exchange);
  const queryOf = (level: number, format: DPEFormat) => dpeQueryOf({ level, queryParams: { format } });
  return {
    async metadata(outline) {
      const span = outline === undefined || outline === "all" ? outline : `${outline.first}-${outline.last}`;
      const query = dpeQueryOf({ level: 1, queryParams: span === undefined ? {} : { outline: span } });
      return await toDocument({ host, query, document: await reader.document(docRef) }, reader);
    },
    async page(pageIndex, format) {
      const page = await reader.page(await reader.document(docRef), pageIndex);
      return toPage({ host, docRef, pageIndex, query: queryOf(2, format) }, page);
    },
    async element(elementId, format) {
      const placed = await reader.element(await reader.document(docRef), elementId);
      return toElement({ host, docRef, elementId, query: queryOf(3, format) }, placed);
    },
  };
}

/** The title of a document; its `docRef` by default. */
export function titleOf({ docRef, title }: DocumentInfo): string {
  return title ?? docRef;
}

function toCatalogue(host: string, documents: readonly CountedDocument[]): DPECatalogue {
  return {
    documents: documents.map((document) => toMetadata(host, document)),
    total_count: documents.length,
  };
}

/** Finds pages by their text; `undefined` when the source cannot. */
async function findPages(
  reader: DocumentReader,
  host: string,
  { query, offset, limit }: DpeTextSearch,
): Promise<DPECatalogue | undefined> {
  const found = await reader.search(query, { offset, limit });
  if (found === undefined) return undefined;
  const groups = Map.groupBy(found.hits, ({ docRef }) => docRef);
  const documents = await Promise.all([...groups].map(async ([docRef, hits]) => {
    const document = await reader.lookUp(docRef);
    return document && { ...toMetadata(host, document), hits: hits.map((hit) => toHit(host, hit)) };
  }));
  return {
    documents: documents.filter((document) => document !== undefined),
    total_count: found.total,
    ...toGaps(found),
  };
}

function toHit(host: string, { docRef, page, pageTitle, elementId, snippet }: DocumentHit): DPEHit {
  return {
    page_index: page,
    ...(pageTitle === undefined ? {} : { title: pageTitle }),
    ...(elementId === undefined ? {} : { element_id: elementId }),
    uri: buildDpeUri({ host, docRef, subPath: `pages/${page}` }),
    snippet,
  };
}

function toGaps(
  { notIndexed = 0, notice }: Pick<DocumentHits, "notIndexed" | "notice">,
): DPESearchGaps {
  return {
    ...(notIndexed === 0 ? {} : { not_indexed: notIndexed }),
    ...(notice === undefined ? {} : { notice }),
  };
}

/** Finds documents, in the order of the Finder. */
function searchIn({ documents }: DPECatalogue, search: DpeSearch): DPECatalogue {
  const found = organizeFinder(documents.map((document) => ({ ...document, server: "" })), search);
  return {
    documents: found.documents.map(({ server: _, ...document }) => document),
    total_count: found.totalCount,
  };
}

async function toDocument(
  { host, query, document }: {
    readonly host: string;
    readonly query: DpeQuery;
    readonly document: CountedDocument;
  },
  reader: DocumentReader,
): Promise<DPEDocument> {
  const { docRef, metadata: said } = document;
  const { textSearch: search } = query;
  const found = search && await reader.search(search.query, { ...search, docRef });
  const sections = query.outline === undefined ? undefined : await reader.outline(docRef);
  const metadata: DPEDocument = {
    ...toMetadata(host, document),
    ...(said === undefined ? {} : { metadata: { ...said } }),
    ...(query.outline === undefined || sections === undefined
      ? {}
      : { outline: outlineWithin(sections, query.outline) }),
    ...(found === undefined
      ? {}
      : { hits: found.hits.map((hit) => toHit(host, hit)), hit_count: found.total, ...toGaps(found) }),
  };
  if (query.depth !== "pages") return metadata;
  const { offset, limit } = query;
  const index = await reader.pageIndex(document, { offset, limit });
  const pages = index.map(({ title, elementCount }, position): DPEPageSummary => {
    const page_index = offset + position;
    const uri = buildDpeUri({ host, docRef, subPath: `pages/${page_index}` });
    return { page_index, title, element_count: elementCount, uri, doc_ref: docRef };
  });
  return { ...metadata, pages, page_offset: offset, page_limit: limit, page_total: document.pageCount };
}

function toMetadata(host: string, document: CountedDocument): DPEDocument {
  const { docRef, fileType, fileUri, pageCount, keywords, summary, lastModified } = document;
  const uri = buildDpeUri({ host, docRef });
  const metadata: DPEDocument = {
    doc_ref: docRef,
    uri,
    file_uri: fileUri ?? uri,
    file_type: fileType ?? (/\.([^./\\]+)$/.exec(docRef)?.[1] ?? "document"),
    title: titleOf(document),
    page_count: pageCount,
  };
  if (keywords !== undefined) metadata.keywords = [...keywords];
  if (summary !== undefined) metadata.summary = summary;
  if (lastModified !== undefined) metadata.last_modified = lastModified;
  return metadata;
}

function toPage(
  { host, docRef, pageIndex, query }: {
    readonly host: string;
    readonly docRef: string;
    readonly pageIndex: number;
    readonly query: DpeQuery;
  },
  { title, elements: all }: DocumentPage,
): DPEPage {
  const elements = all
    .map((element, position) => toPart(elementIdOf(element, { pageIndex, position }), element))
    .filter(({ category }) => query.categories?.some((wanted) => wanted === category) ?? true);
  const page: DPEPage = {
    page_index: pageIndex,
    title,
    doc_ref: docRef,
    uri: buildDpeUri({ host, docRef, subPath: `pages/${pageIndex}` }),
    elements,
    element_count: elements.length,
  };
  if (query.format === "markdown") page.content_markdown = renderPageMarkdown(page);
  if (query.format === "text") page.content_text = renderPageText(page);
  return { ...page, elements: elements.filter(({ category }) => isWanted(category, query)) };
}

/** Whether an element comes in its JSON as well, and not in the rendered text alone. */
function isWanted(category: string, { elements }: DpeQuery): boolean {
  return elements?.some((wanted) => wanted === category) ?? true;
}

/** An element in the JSON of its page. */
function toPart(element_id: string, { category, summary, content }: DocumentElement): DPEElementDetail {
  return { element_id, category, ...(summary === undefined ? {} : { summary }), content: { ...content } };
}

function toElement(
  { host, docRef, elementId, query }: {
    readonly host: string;
    readonly docRef: string;
    readonly elementId: string;
    readonly query: DpeQuery;
  },
  { pageIndex, element }: PlacedElement,
): DPEElementDetail {
  const { category, summary, content, metadata } = element;
  const detail: DPEElementDetail = {
    element_id: elementId,
    category,
    doc_ref: docRef,
    page_index: pageIndex,
    uri: buildDpeUri({ host, docRef, subPath: `elements/${elementId}` }),
    ...(summary === undefined ? {} : { summary }),
    content: { ...content },
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
  };
  if (query.format === "markdown") detail.content_markdown = renderElementMarkdown(detail);
  if (query.format === "text") detail.content_text = renderElementText(detail);
  if (isWanted(category, query)) return detail;
  const { metadata: _, ...rest } = detail;
  return { ...rest, content: {} };
}
