/** The texts of many documents side by side, so that a keyword is looked for in one sweep. */
import { type PreparedDocument, TEXT_SEPARATOR } from "./prepared_document.ts";

/** About how long a segment may grow, in characters: far below the longest text that there can be. */
const SEGMENT_LENGTH = 1 << 22;

interface Segment {
  readonly text: string;
  /** The index of its first document. */
  readonly first: number;
  /** Where in `text` each of its documents begins, and where the last one ends. */
  readonly starts: Uint32Array;
}

/**
 * What keywords are looked for in. The documents themselves lie all over the memory, and going to each of them costs
 * more than the search.
 */
export class ShelfText {
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

  /** Sets the mark of each document, by its index, in which `keyword` stands; it must not hold the separator. */
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
