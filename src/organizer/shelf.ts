/** The documents of one MCP server, kept in the Finder's order and searchable between requests. */
import { compareDocuments, type PreparedDocument, TEXT_SEPARATOR } from "./document.ts";

interface Slot {
  readonly prepared: PreparedDocument;
  /** Its index in the server's list, by which documents of the same instant are ordered. */
  position: number;
  isGone: boolean;
}

/** Above this share of changed documents, sorting all of them is cheaper than merging. */
const MERGE_SHARE = 1 / 8;

/** The length at which a segment of text ends, in characters; far below the longest string of V8. */
const SEGMENT_LENGTH = 1 << 22;

/**
 * The prepared documents of one MCP server, latest `last_modified` first (`docs/protocol/finder.md#document-order`).
 * The order is brought up to date when it is read, and a changed document costs a merge and not a sort.
 */
export class DocumentShelf {
  readonly #slots = new Map<string, Slot>();
  readonly #positions = new Map<string, number>();
  #added: Slot[] = [];
  #hasGone = false;
  #isUnsorted = false;
  #ordered: Slot[] = [];
  #documents: readonly PreparedDocument[] | undefined;
  #text: ShelfText | undefined;

  get size(): number {
    return this.#slots.size;
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
        this.#isUnsorted = true;
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
    this.#order();
    this.#text = undefined;
    return this.#documents = this.#ordered.map(({ prepared }) => prepared);
  }

  /** The texts of {@linkcode DocumentShelf.documents}, in the same order. */
  get text(): Pick<ShelfText, "mark"> {
    const { documents } = this;
    return this.#text ??= new ShelfText(documents);
  }

  #remove(key: string, slot: Slot): void {
    slot.isGone = true;
    this.#hasGone = true;
    this.#documents = undefined;
    this.#slots.delete(key);
  }

  #order(): void {
    const added = this.#added.filter(({ isGone }) => !isGone);
    if (this.#isUnsorted || added.length > this.#slots.size * MERGE_SHARE) {
      this.#ordered = [...this.#slots.values()].sort(compareSlots);
    } else {
      const kept = this.#hasGone ? this.#ordered.filter(({ isGone }) => !isGone) : this.#ordered;
      this.#ordered = added.length === 0 ? kept : merge(kept, added.sort(compareSlots));
    }
    this.#added = [];
    this.#hasGone = false;
    this.#isUnsorted = false;
  }
}

function compareSlots(a: Slot, b: Slot): number {
  return compareDocuments(a.prepared, b.prepared) || a.position - b.position;
}

function merge(left: readonly Slot[], right: readonly Slot[]): Slot[] {
  const merged: Slot[] = [];
  let next = 0;
  for (const slot of left) {
    for (
      let other = right[next];
      other !== undefined && compareSlots(other, slot) < 0;
      other = right[++next]
    ) {
      merged.push(other);
    }
    merged.push(slot);
  }
  return merged.concat(right.slice(next));
}

/** Some texts of a shelf, joined by separators. */
interface Segment {
  readonly text: string;
  /** The index of its first document. */
  readonly first: number;
  /** The offset of each document in `text`, and the end of the last one. */
  readonly starts: Uint32Array;
}

/** The texts of many documents joined into a few strings: one search in a long string is faster than many in short ones. */
class ShelfText {
  readonly #segments: readonly Segment[];

  constructor(documents: readonly PreparedDocument[]) {
    const segments: Segment[] = [];
    for (let first = 0; first < documents.length;) {
      const segment = toSegment(documents, first);
      segments.push(segment);
      first += segment.starts.length - 1;
    }
    this.#segments = segments;
  }

  /** Sets `marks[index]` for each document that contains `keyword`, which must not contain the separator. */
  mark(keyword: string, marks: Uint8Array): void {
    for (const { text, first, starts } of this.#segments) {
      let index = 0;
      for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, starts[index])) {
        while ((starts[index + 1] ?? Infinity) <= at) index++;
        marks[first + index] = 1;
        index++;
      }
    }
  }
}

function toSegment(documents: readonly PreparedDocument[], first: number): Segment {
  const starts = [0];
  const texts: string[] = [];
  let length = 0;
  for (let i = first; i < documents.length && length < SEGMENT_LENGTH; i++) {
    const { text } = documents[i] ?? { text: "" };
    texts.push(text);
    length += text.length + TEXT_SEPARATOR.length;
    starts.push(length);
  }
  return { text: texts.join(TEXT_SEPARATOR) + TEXT_SEPARATOR, first, starts: Uint32Array.from(starts) };
}
