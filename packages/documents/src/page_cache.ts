/** Pages that were read, up to a size. */
import { abortable } from "@a2c-smcp/sdk/base";
import type { DocumentPage } from "@a2c-smcp/sdk/provider";

/** The most characters of JSON of all pages. */
const MAX_LENGTH = 24 * 1024 * 1024;

interface Entry {
  readonly page: Promise<DocumentPage>;
  /** Aborted when nobody waits for the page any more. */
  readonly unwanted: AbortController;
  readers: number;
  /** The characters of the page as JSON; 0 while the page is being read. */
  length: number;
}

export interface PageReading {
  /** Ends the wait of this reader alone. */
  readonly signal: AbortSignal | undefined;
  /** Reads the page; its signal is aborted when no reader waits any more. */
  read(signal: AbortSignal): Promise<DocumentPage>;
}

/** Keeps the pages that were used last. A page that is being read is read once. */
export class PageCache {
  readonly #pages = new Map<string, Entry>();
  #length = 0;

  /** The page of a key, which is read when it is not kept. A failure is not kept. */
  async get(key: string, { signal, read }: PageReading): Promise<DocumentPage> {
    const entry = this.#kept(key) ?? this.#read(key, read);
    entry.readers++;
    try {
      return await abortable(entry.page, signal);
    } finally {
      entry.readers--;
      if (entry.readers === 0 && entry.length === 0) this.#abandon(key, entry, signal?.reason);
    }
  }

  /** Ends the reading of a page that nobody waits for. A reader that comes later has the page read anew. */
  #abandon(key: string, entry: Entry, reason: unknown): void {
    if (this.#pages.get(key) === entry) this.#pages.delete(key);
    entry.unwanted.abort(reason);
  }

  #kept(key: string): Entry | undefined {
    const known = this.#pages.get(key);
    if (known === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, known);
    return known;
  }

  #read(key: string, read: PageReading["read"]): Entry {
    const unwanted = new AbortController();
    const entry: Entry = { page: read(unwanted.signal), unwanted, readers: 0, length: 0 };
    this.#pages.set(key, entry);
    entry.page.then(
      (page) => this.#count(key, entry, JSON.stringify(page).length),
      () => this.#pages.get(key) === entry && this.#pages.delete(key),
    );
    return entry;
  }

  #count(key: string, entry: Entry, length: number): void {
    if (this.#pages.get(key) !== entry) return;
    entry.length = length;
    this.#length += length;
    for (const [oldest, { length }] of this.#pages) {
      if (this.#length <= MAX_LENGTH) break;
      this.#length -= length;
      this.#pages.delete(oldest);
    }
  }
}
