/** The documents of one host, published. */
import type { McpResource } from "../../protocol/resources.ts";
import { buildDpeUri } from "../../uri/dpe_uri.ts";
import { excerpt } from "../../uri/excerpt.ts";
import { titleOf } from "./content.ts";
import type { DocumentInfo, DocumentSource } from "./source.ts";

/** The media type of everything under `dpe://`. */
export const DOCUMENT_MEDIA_TYPE = "application/json";

/** Tells the clients. */
export interface DocumentsListener {
  onDocumentChange(uris: { readonly document: string; readonly catalogue: string }): void;
  onListChange(catalogue: string): void;
  onRemove(host: string): void;
}

/** A URI template as `resources/templates/list` shows it. */
export interface ResourceTemplateEntry {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

/**
 * The documents of one host as clients see them: what `Provider.publishDocuments()` returns. Tell it what changes.
 *
 * Specification: `docs/protocol/finder.md#announcing-changes`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Provider } from "@a2c-smcp/sdk/provider";
 *
 * const notes = new Map([["today", "Buy milk"]]);
 * const documents = new Provider().publishDocuments({
 *   host: "com.example.notes",
 *   list: () => [...notes.keys()].map((docRef) => ({ docRef, fileType: "txt", pageCount: 1 })),
 *   pages: (docRef) => {
 *     const text = notes.get(docRef);
 *     return text === undefined ? undefined : [{ title: docRef, elements: [{ category: "text", content: { text } }] }];
 *   },
 * });
 * assertEquals(documents.uri("today"), "dpe://com.example.notes/today");
 *
 * notes.set("today", "Buy milk and bread");
 * documents.changed("today");
 * notes.set("tomorrow", "Rest");
 * documents.listChanged();
 * ```
 */
export interface PublishedDocuments {
  /** In lower case. */
  readonly host: string;
  /**
   * The `dpe://` URI of the catalogue, of a document, or of a place in it (`pages/{N}`, `elements/{ID}`).
   *
   * @throws {SmcpError} 4204 when there can be no such URI
   */
  uri(docRef?: string, subPath?: string): string;
  /**
   * Tells every client that subscribed to a document, to a part of it or to the catalogue that the document, or what
   * is known of it, has changed (`resources/updated`). Costs nothing where nobody listens.
   *
   * @throws {TypeError} when these documents were removed
   * @throws {SmcpError} 4204 when there can be no such document
   */
  changed(docRef: string): void;
  /**
   * Tells every client that documents came or went (`list_changed`), and whoever subscribed to the catalogue that it
   * has changed.
   *
   * @throws {TypeError} when these documents were removed
   */
  listChanged(): void;
  /** Takes the documents away; every client is told (`list_changed`). May be called twice. */
  remove(): void;
}

/** The documents of one host and their source. */
export class Documents implements PublishedDocuments {
  readonly host: string;
  /** What the author gave. */
  readonly source: DocumentSource;
  readonly #listener: DocumentsListener;
  #isRemoved = false;

  /** Throws when `source` is not what its type says. */
  constructor(source: DocumentSource, listener: DocumentsListener) {
    this.host = checkSource(source);
    this.source = source;
    this.#listener = listener;
  }

  uri(docRef?: string, subPath?: string): string {
    return buildDpeUri({ host: this.host, docRef, subPath });
  }

  changed(docRef: string): void {
    this.#mustExist("update");
    this.#listener.onDocumentChange({ document: this.uri(docRef), catalogue: this.uri() });
  }

  listChanged(): void {
    this.#mustExist("update");
    this.#listener.onListChange(this.uri());
  }

  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#listener.onRemove(this.host);
  }

  /** A document as `resources/list` shows it (`docs/protocol/finder.md#listing-documents`). */
  toResource(document: DocumentInfo): McpResource {
    const { docRef, summary } = document;
    const resource = { uri: this.uri(docRef), name: titleOf(document), mimeType: DOCUMENT_MEDIA_TYPE };
    return summary === undefined ? resource : { ...resource, description: summary };
  }

  /** The templates of pages and elements (`docs/protocol/finder.md#document-templates`). */
  get templates(): readonly ResourceTemplateEntry[] {
    const document = `${this.uri()}/{doc_ref}`;
    return [
      {
        uriTemplate: `${document}/pages/{page_index}`,
        name: "Page of a document",
        description: "The elements of a page, by its number from 0",
        mimeType: DOCUMENT_MEDIA_TYPE,
      },
      {
        uriTemplate: `${document}/elements/{element_id}`,
        name: "Element of a document",
        description: "One element with its details, by its id",
        mimeType: DOCUMENT_MEDIA_TYPE,
      },
    ];
  }

  #mustExist(verb: string): void {
    if (this.#isRemoved) throw new TypeError(`Cannot ${verb} documents of "${this.host}": they are removed`);
  }
}

function checkSource(source: DocumentSource): string {
  const { host, list, page, pages } = source;
  const refuse = (what: string, options?: ErrorOptions) =>
    new TypeError(`Cannot publish documents of ${excerpt(host)}: ${what}`, options);
  if (typeof list !== "function") throw refuse("there is no list()");
  if (typeof pages !== "function" && typeof page !== "function") {
    throw refuse("there is neither pages() nor page()");
  }
  try {
    buildDpeUri({ host });
  } catch (cause) {
    throw refuse("this can be no host", { cause });
  }
  return host.toLowerCase();
}
