/** Everything that is published, found by URI. */
import type { ResourceContents } from "../protocol/resources.ts";
import { hasDpeScheme, parseDpeUri } from "../uri/dpe_uri.ts";
import { windowIdentity } from "../uri/window_uri.ts";
import { readContent } from "./documents/content.ts";
import { DocumentReader } from "./documents/reader.ts";
import type { Exchange } from "./session/json_rpc.ts";
import { DOCUMENT_MEDIA_TYPE, type Documents } from "./documents/published.ts";
import type { Window } from "./windows/published.ts";

/** What the clients of a provider see. */
export class Publications {
  readonly #windows = new Map<string, Window>();
  readonly #documents = new Map<string, Documents>();

  /** In the order in which they were published. */
  get windows(): readonly Window[] {
    return [...this.#windows.values()];
  }

  /** In the order in which they were published. */
  get documents(): readonly Documents[] {
    return [...this.#documents.values()];
  }

  /** Throws when the window is published already. */
  addWindow(window: Window): void {
    if (this.#windows.has(window.uri)) {
      throw new TypeError(`Cannot publish window "${window.uri}": it is published already`);
    }
    this.#windows.set(window.uri, window);
  }

  removeWindow(uri: string): void {
    this.#windows.delete(uri);
  }

  /** Throws when the host has documents already. */
  addDocuments(documents: Documents): void {
    if (this.#documents.has(documents.host)) {
      throw new TypeError(`Cannot publish documents of "${documents.host}": they are published already`);
    }
    this.#documents.set(documents.host, documents);
  }

  removeDocuments(host: string): void {
    this.#documents.delete(host);
  }

  /** Whether a URI is ours to serve; throws 4204 when it should be but is malformed. */
  serves(uri: string): boolean {
    return this.#window(uri) !== undefined || this.#source(uri) !== undefined;
  }

  /** What a URI stands for; `undefined` when it is not ours to serve. Throws 4201–4204. */
  async read(uri: string, exchange: Exchange): Promise<ResourceContents | undefined> {
    const window = this.#window(uri);
    if (window !== undefined) return await window.read(uri, exchange.request);
    const found = this.#source(uri);
    if (found === undefined) return undefined;
    const reader = new DocumentReader(found.documents.source, exchange);
    const content = await readContent(reader, found.parsed);
    return { uri, mimeType: DOCUMENT_MEDIA_TYPE, text: JSON.stringify(content) };
  }

  #window(uri: string): Window | undefined {
    const identity = windowIdentity(uri);
    return identity === undefined ? undefined : this.#windows.get(identity);
  }

  /** A server without documents has no say in `dpe://`: somebody else's handler may understand it. */
  #source(uri: string) {
    if (this.#documents.size === 0 || !hasDpeScheme(uri)) return undefined;
    const parsed = parseDpeUri(uri);
    const documents = this.#documents.get(parsed.host);
    return documents === undefined ? undefined : { documents, parsed };
  }
}
