/** Comments on the cells of a sheet: the threads of newer versions of Excel, and notes. */
import { annotation } from "../annotation.ts";
import type { DocumentElement } from "../../../provider/documents/source.ts";
import type { OfficePackage, Relationship } from "../ooxml.ts";
import { at, childrenOf, textOf } from "../xml.ts";
import { richText } from "./cells.ts";

interface CellComment {
  /** What it is, such as `Comment`. */
  readonly label: string;
  readonly cell: string;
  readonly author: string;
  readonly text: string;
}

/** Reads the comments of the sheets of a workbook. */
export class CommentReader {
  readonly #office: OfficePackage;
  readonly #people: string | undefined;
  #names: ReadonlyMap<string, string> | undefined;

  /** @param people the part that names the people who wrote threads; `undefined` when there is none */
  constructor(office: OfficePackage, people: string | undefined) {
    this.#office = office;
    this.#people = people;
  }

  /**
   * The comments of a sheet, with these relationships, as elements.
   *
   * @param isHere whether a cell is on the page
   */
  read(related: readonly Relationship[], isHere: (cell: string) => boolean): DocumentElement[] {
    const threads = related.flatMap(({ type, target }) =>
      type === "threadedComment" ? this.#threads(target) : []
    );
    // Beside each thread there is a note for older programs, which repeats it after a sentence of advice.
    const threaded = new Set(threads.map(({ cell }) => cell));
    const notes = related.flatMap(({ type, target }) => type === "comments" ? this.#notes(target) : [])
      .filter(({ cell }) => !threaded.has(cell));
    return [...threads, ...notes].filter(({ cell }) => isHere(cell)).map(({ label, cell, author, text }) =>
      annotation(`${label} on cell ${cell}`, { text, ...(author === "" ? {} : { author }), cell })
    );
  }

  #notes(part: string): CellComment[] {
    const list = at(this.#office.xml(part), "comments");
    const authors = childrenOf(at(list, "authors"), "author").map(textOf);
    return childrenOf(at(list, "commentList"), "comment").map((comment) => {
      const { ref: cell = "", authorId } = comment.attributes;
      const text = richText(at(comment, "text")).trim();
      return { label: "Comment", cell, author: authors[Number(authorId)]?.trim() ?? "", text };
    });
  }

  #threads(part: string): CellComment[] {
    this.#names ??= this.#readNames();
    const names = this.#names;
    return childrenOf(at(this.#office.xml(part), "ThreadedComments"), "threadedComment").map((comment) => {
      const { ref: cell = "", personId = "", parentId } = comment.attributes;
      const label = parentId === undefined ? "Comment" : "Reply";
      return { label, cell, author: names.get(personId) ?? "", text: textOf(at(comment, "text")).trim() };
    });
  }

  #readNames(): ReadonlyMap<string, string> {
    const list = at(this.#people === undefined ? undefined : this.#office.xml(this.#people), "personList");
    return new Map(
      childrenOf(list, "person").map((
        { attributes },
      ) => [attributes["id"] ?? "", attributes["displayName"] ?? ""]),
    );
  }
}
