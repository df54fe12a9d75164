/** The documents of one MCP server, kept in the Finder's order and searchable between requests. */
import { compareDocuments, type PreparedDocument, TEXT_SEPARATOR } from "./document.ts";

interface Slot {
  readonly prepared: PreparedDocument;
  /** Its index in the server's list, by which documents of the same instant are ordered. */
  position: number;
  isGone: boolean;
}

/**
 * The prepared documents of one MCP server, latest `last_modified` first (`docs/protocol/finder.md#document-order`).
 * The order is brought up to date when it is read. What was in order is one run for the sort, so a few changed documents
 * cost one pass.
 */
export class DocumentShelf {
  readonly #slots = new Map<string, Slot>();
  readonly #positions = new Map<string, number>();
  #added: Slot[] = [];
  #ordered: Slot[] = [];
  #documents: readonly PreparedDocument[] | undefined;
  #text: JoinedText | undefined;

  /** A shelf that never changes. */
  static of(documents: readonly PreparedDocument[]): DocumentShelf {
    const shelf = new DocumentShelf();
    shelf.#documents = documents.toSorted(compareDocuments);
    return shelf;
  }

  /** Takes the server's list: removes documents that are not in it, and orders equal documents by it. */
  follow(keys: Iterable<string>): void {
    this.#positions.clear();
    for (const key of keys) this.#positions.set(key, this.#positions.size);
    for (const [key, slot] of this.#slots) {
      const position = this.#positions.get(key);
      if (position === undefined) this.#remove(key, slot);
      else if (position !== slot.position) {
        slot.position = position;
        this.#documents = undefined;
      }
    }
  }

  /** Replaces the document of a listed key; `undefined` removes it. Ignores a key that is not listed. */
  set(key: string, prepared: PreparedDocument | undefined): void {
    const earlier = this.#slots.get(key);
    if (earlier !== undefined) this.#remove(key, earlier);
    const position = this.#positions.get(key);
    if (prepared === undefined || position === undefined) return;
    const slot = { prepared, position, isGone: false };
    this.#slots.set(key, slot);
    this.#added.push(slot);
    this.#documents = undefined;
  }

  /** The documents in order. A later change returns another array. */
  get documents(): readonly PreparedDocument[] {
    if (this.#documents !== undefined) return this.#documents;
    this.#ordered = [...this.#ordered, ...this.#added].filter(({ isGone }) => !isGone).sort((a, b) =>
      compareDocuments(a.prepared, b.prepared) || a.position - b.position
    );
    this.#added = [];
    this.#text = undefined;
    return this.#documents = this.#ordered.map(({ prepared }) => prepared);
  }

  /** The texts of {@linkcode DocumentShelf.documents}, in the same order. */
  get text(): JoinedText {
    const { documents } = this;
    return this.#text ??= new JoinedText(documents);
  }

  #remove(key: string, slot: Slot): void {
    slot.isGone = true;
    this.#documents = undefined;
    this.#slots.delete(key);
  }
}

/** The texts of documents in one string: one search in a long string is faster than many in short ones. */
class JoinedText {
  readonly #text: string;
  /** The offset of each document in the text, and the end of the last one. */
  readonly #starts: Uint32Array;

  constructor(documents: readonly PreparedDocument[]) {
    const starts = this.#starts = new Uint32Array(documents.length + 1);
    for (const [index, { text }] of documents.entries()) {
      starts[index + 1] = (starts[index] ?? 0) + text.length + TEXT_SEPARATOR.length;
    }
    this.#text = [...documents.map(({ text }) => text), ""].join(TEXT_SEPARATOR);
  }

  /** Sets `marks[index]` for each document that contains a keyword. */
  mark(keyword: string, marks: Uint8Array): void {
    if (keyword.includes(TEXT_SEPARATOR)) return;
    const text = this.#text;
    const starts = this.#starts;
    let index = 0;
    for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, starts[index])) {
      while ((starts[index + 1] ?? Infinity) <= at) index++;
      marks[index] = 1;
      index++;
    }
  }
}
