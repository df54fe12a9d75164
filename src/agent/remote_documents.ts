/** The documents of a Computer, as an Agent reads them: Document, Page, Element. */
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import {
  type DocumentAnswer,
  documentPagesUri,
  documentUri,
  elementUri,
  type FormatOptions,
  type PageIndexOptions,
  type PageOptions,
  pageUri,
  readDocument,
  readDocumentPages,
  readElement,
  readPage,
} from "./documents.ts";
import type { ReadResourceOptions } from "./remote_options.ts";
import { RemoteResources } from "./remote_resources.ts";

/** The part of a `RemoteComputer` that reads documents. */
export class RemoteDocuments extends RemoteResources {
  readonly #requests: ComputerRequests;

  /**
   * Use `agent.computer(name)`.
   *
   * @internal
   */
  constructor(requests: ComputerRequests) {
    super(requests);
    this.#requests = requests;
  }

  /**
   * Reads a document's metadata: Level 1 (`docs/protocol/finder.md#navigation-helpers`).
   *
   * @param uri The document's `dpe://` URI, or that of one of its pages or elements.
   * @throws {SmcpError} 4201 when the document does not exist, 4204 when `uri` is not a document URI.
   */
  async readDocumentMetadata(uri: string, options: ReadResourceOptions = {}): Promise<DPEDocument> {
    return readDocument(await this.#readDocument(documentUri(uri), options));
  }

  /**
   * Reads a document's metadata and a part of its page index: Level 1 with `depth=pages`.
   *
   * @throws {SmcpError} as {@linkcode readDocumentMetadata}.
   */
  async readDocumentPages(
    uri: string,
    options: ReadResourceOptions & PageIndexOptions = {},
  ): Promise<DPEDocumentPages> {
    const { offset, limit, ...rest } = options;
    const pages = documentPagesUri(uri, { offset, limit });
    return readDocumentPages(await this.#readDocument(pages, rest));
  }

  /**
   * Reads a page of a document: Level 2.
   *
   * @param uri The document's URI.
   * @param pageIndex The number of the page, from 0.
   * @throws {SmcpError} 4201 when the document does not exist, 4202 when the page does not exist, 4204 when the URI is invalid.
   */
  async readPage(
    uri: string,
    pageIndex: number,
    options: ReadResourceOptions & PageOptions = {},
  ): Promise<DPEPage> {
    const { format, categories, ...rest } = options;
    const page = pageUri(uri, pageIndex, { format, categories });
    return readPage({ ...await this.#readDocument(page, rest), format });
  }

  /**
   * Reads an element of a document: Level 3.
   *
   * @param uri The document's URI.
   * @param elementId The `element_id` in the page.
   * @throws {SmcpError} 4201 when the document does not exist, 4203 when the element does not exist, 4204 when the URI is invalid.
   */
  async readElement(
    uri: string,
    elementId: string,
    options: ReadResourceOptions & FormatOptions = {},
  ): Promise<DPEElementDetail> {
    const { format, ...rest } = options;
    const element = elementUri(uri, elementId, { format });
    return readElement({ ...await this.#readDocument(element, rest), format });
  }

  async #readDocument(uri: string, options: ReadResourceOptions): Promise<DocumentAnswer> {
    return {
      uri,
      result: await this.readResource(uri, options),
      onFlaws: (fields) => this.#requests.warn("document has flaws", { uri, ...fields }),
    };
  }
}
