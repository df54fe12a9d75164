/** The published documents of one host. */
import type { McpResource } from "../../protocol/resources.ts";
import { buildDpeUri } from "../../uri/dpe_uri.ts";
import { excerpt } from "../../text/text.ts";
import { titleOf } from "./content.ts";
import type { DocumentInfo, DocumentSource } from "./source.ts";

/** The media type of everything under `dpe://`. */
export const DOCUMENT_MEDIA_TYPE = "application/json";

export interface DocumentsListener {
  onDocumentChange(uris: { readonly document: string; readonly catalogue: string }): void;
  onListChange(catalogue: string): void;
  onRemove(host: string): void;
}

/** A URI template in the answer to `resources/templates/list`. */
export interface ResourceTemplateEntry {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

/**
 * The published documents of one host, returned by `Provider.publishDocuments()`. Call it when documents change, so
 * that clients are notified.
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
  /** The host of the documents, in lower case. */
  readonly host: string;
  /**
   * Builds the `dpe://` URI of the catalogue, of a document, or of a page or element (`pages/{N}`, `elements/{ID}`).
   *
   * @throws {SmcpError} 4204 when the parts do not form a valid URI
   */
  uri(docRef?: string, subPath?: string): string;
  /**
   * Notifies clients that a document or its metadata has changed (`resources/updated`): those that subscribed to the
   * document, to a part of it, or to the catalogue. Costs nothing without subscriptions.
   *
   * @throws {TypeError} after {@linkcode remove}
   * @throws {SmcpError} 4204 when `docRef` cannot be part of a URI
   */
  changed(docRef: string): void;
  /**
   * Notifies every client that documents were added or removed (`list_changed`), and the subscribers of the catalogue
   * that it has changed.
   *
   * @throws {TypeError} after {@linkcode remove}
   */
  listChanged(): void;
  /** Removes the documents and notifies every client (`list_changed`). Idempotent. */
  remove(): void;
}

export class Documents implements PublishedDocuments {
  readonly host: string;
  readonly source: DocumentSource;
  readonly #listener: DocumentsListener;
  #isRemoved = false;

  /** Throws a TypeError when `source` is invalid. */
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

  /** The entry of a document in `resources/list` (`docs/protocol/finder.md#listing-documents`). */
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
    if (this.#isRemoved) {
      throw new TypeError(`Cannot ${verb} documents of host "${this.host}": they were removed`);
    }
  }
}

function checkSource(source: DocumentSource): string {
  const { host, list, page, pages } = source;
  const refuse = (what: string, options?: ErrorOptions) =>
    new TypeError(`Cannot publish documents of host ${excerpt(host)}: ${what}`, options);
  if (typeof list !== "function") throw refuse("the source has no list()");
  if (typeof pages !== "function" && typeof page !== "function") {
    throw refuse("the source has neither pages() nor page()");
  }
  try {
    buildDpeUri({ host });
  } catch (cause) {
    throw refuse("the host is not valid in a URI", { cause });
  }
  return host.toLowerCase();
}
