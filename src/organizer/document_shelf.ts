/** The documents of one MCP server, kept in the Finder's order between requests. */
import type { PreparedDocument } from "./prepared_document.ts";
import { ShelfText } from "./shelf_text.ts";

/** Where a document stands. */
interface Slot {
  readonly prepared: PreparedDocument;
  /** Its place in the server's list, which ties keep. */
  position: number;
  isGone: boolean;
}

/** Beyond this share of changed documents, sorting all is cheaper than merging. */
const MERGE_SHARE = 1 / 8;

/**
 * A server's prepared documents, the one modified last first (`docs/protocol/finder.md#document-order`). A change costs its own place in
 * the order, not a sort of all: the order is brought up to date when it is asked for.
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

  /** How many documents stand on the shelf. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes the server's list: what is not on it leaves, and ties keep its order. */
  follow(keys: Iterable<string>): void {
    this.#positions.clear();
    for (const key of keys) this.#positions.set(key, this.#positions.size);
    for (const [key, slot] of this.#slots) {
      const position = this.#positions.get(key);
      if (position === undefined) this.#drop(key, slot);
      else if (position !== slot.position) {
        slot.position = position;
        this.#isUnsorted = true;
        this.#documents = undefined;
      }
    }
  }

  /** Puts a listed document on the shelf in place of its earlier state; `undefined` takes it away. */
  set(key: string, prepared: PreparedDocument | undefined): void {
    const earlier = this.#slots.get(key);
    if (earlier !== undefined) this.#drop(key, earlier);
    const position = this.#positions.get(key);
    if (prepared === undefined || position === undefined) return;
    const slot = { prepared, position, isGone: false };
    this.#slots.set(key, slot);
    this.#added.push(slot);
    this.#documents = undefined;
  }

  /** The documents in order. */
  get documents(): readonly PreparedDocument[] {
    if (this.#documents !== undefined) return this.#documents;
    this.#order();
    this.#text = undefined;
    return this.#documents = this.#ordered.map(({ prepared }) => prepared);
  }

  /** Their texts in the same order. */
  get text(): ShelfText {
    const { documents } = this;
    return this.#text ??= new ShelfText(documents);
  }

  #drop(key: string, slot: Slot): void {
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
  const { instant: first } = a.prepared;
  const { instant: second } = b.prepared;
  return first === second ? a.position - b.position : second > first ? 1 : -1;
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
