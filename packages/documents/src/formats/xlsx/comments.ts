/** Comments on the cells of a sheet: the threads of newer versions of Excel, and notes. */
import { annotation } from "../sections.ts";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import type { OfficePackage } from "../ooxml.ts";
import { at, childrenOf, textOf, type XmlNode } from "../xml.ts";
import { richText } from "./cells.ts";

interface CellComment {
  /** What it is, such as `Comment`. */
  readonly label: string;
  readonly cell: string;
  readonly author: string;
  readonly text: string;
}

/**
 * The comments of a sheet, as elements.
 *
 * @param people the part that names the people who wrote threads
 * @param isHere whether a cell is on the page
 */
export function readComments(
  office: OfficePackage,
  { sheet, people, isHere }: {
    readonly sheet: string;
    readonly people: string;
    readonly isHere: (cell: string) => boolean;
  },
): DocumentElement[] {
  const names = new Map(
    childrenOf(at(office.xml(people), "personList"), "person").map(({ attributes: { id, displayName } }) =>
      [id, displayName] as const
    ),
  );
  const threads = office.related(sheet, "threadedComment").flatMap((part) =>
    threadsOf(office.xml(part), names)
  );
  // Beside each thread there is a note for older programs, which repeats it after a sentence of advice.
  const threaded = new Set(threads.map(({ cell }) => cell));
  const notes = office.related(sheet, "comments").flatMap((part) => notesOf(office.xml(part)))
    .filter(({ cell }) => !threaded.has(cell));
  return [...threads, ...notes].filter(({ cell }) => isHere(cell)).map(({ label, cell, author, text }) =>
    annotation(`${label} on cell ${cell}`, { text, ...(author === "" ? {} : { author }), cell })
  );
}

function notesOf(part: XmlNode | undefined): CellComment[] {
  const list = at(part, "comments");
  const authors = childrenOf(at(list, "authors"), "author").map(textOf);
  return childrenOf(at(list, "commentList"), "comment").map((comment) => {
    const { ref: cell = "", authorId } = comment.attributes;
    const text = richText(at(comment, "text")).trim();
    return { label: "Comment", cell, author: authors[Number(authorId)]?.trim() ?? "", text };
  });
}

function threadsOf(
  part: XmlNode | undefined,
  names: ReadonlyMap<string | undefined, string | undefined>,
): CellComment[] {
  return childrenOf(at(part, "ThreadedComments"), "threadedComment").map((comment) => {
    const { ref: cell = "", personId, parentId } = comment.attributes;
    const label = parentId === undefined ? "Comment" : "Reply";
    return { label, cell, author: names.get(personId) ?? "", text: textOf(at(comment, "text")).trim() };
  });
}
