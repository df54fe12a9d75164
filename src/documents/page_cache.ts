/** Pages that were read, up to a size. */
import type { DocumentPage } from "../provider/documents/source.ts";

/** The most characters of JSON of all pages. */
const MAX_LENGTH = 24 * 1024 * 1024;

/** Keeps the pages that were used last. A page that is being read is read once. */
export class PageCache {
  readonly #pages = new Map<string, { readonly page: Promise<DocumentPage>; length: number }>();
  #length = 0;

  /** The page of a key; `read` is called when it is not kept. A failure is not kept. */
  get(key: string, read: () => Promise<DocumentPage>): Promise<DocumentPage> {
    const known = this.#pages.get(key);
    if (known !== undefined) {
      this.#pages.delete(key);
      this.#pages.set(key, known);
      return known.page;
    }
    const entry = { page: read(), length: 0 };
    this.#pages.set(key, entry);
    entry.page.then(
      (page) => this.#count(key, entry, JSON.stringify(page).length),
      () => this.#pages.get(key) === entry && this.#pages.delete(key),
    );
    return entry.page;
  }

  #count(key: string, entry: { length: number }, length: number): void {
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
