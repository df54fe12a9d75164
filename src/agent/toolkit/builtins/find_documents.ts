/** `find_documents`: the documents of Computers. */
import { DEFAULT_FINDER_LIMIT, type FinderPage, MAX_FINDER_LIMIT } from "../../../protocol/finder.ts";
import type { DPEDocumentSummary } from "../../../protocol/dpe.ts";
import { toSeenLine, toSeenName, toSeenUri, toSeenWord } from "../../../text/safe_text.ts";
import type { LocalTool } from "../tool_context.ts";
import {
  askEach,
  chosenComputers,
  COMPUTER_PROPERTY,
  makeBuiltin,
  problemLines,
  type Reach,
} from "./builtin.ts";
import { pagingOf } from "../../../local_tools/arguments.ts";
import { pagesOf, toHitLine } from "../../../local_tools/document_answers.ts";

const paging = pagingOf("documents, or pages found by query, of each Computer", {
  max: MAX_FINDER_LIMIT,
  usual: DEFAULT_FINDER_LIMIT,
});

export function findDocuments(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "find_documents",
    title: "Find documents",
    description:
      "Finds documents (reports, sheets, slides, notes and the like) on Computers: with query by their text, with keywords by " +
      "title, keywords and summary, without both all. Read a page or an element that was found with read_document.",
    properties: {
      computer: COMPUTER_PROPERTY,
      query: {
        type: "string",
        description:
          "A few words to search in the text of documents; finds pages that have most of them, with the words around. " +
          "keywords and file_type have no effect then.",
      },
      keywords: {
        type: "array",
        items: { type: "string" },
        description:
          "Only documents that contain one of these words in title, keywords or summary. All when absent.",
      },
      file_type: { type: "string", description: "Only documents of this type, such as pdf or xlsx." },
      ...paging.properties,
    },
    outputSchema: {
      type: "object",
      properties: {
        notice: { type: "string", description: "What was not searched, and why." },
        documents: { type: "array", items: { type: "object" } },
        total_count: { type: "integer" },
      },
      required: ["documents", "total_count"],
    },
    async run(args, { signal, clientName: client }) {
      const query = args.text("query");
      const keywords = args.texts("keywords");
      const fileType = args.text("file_type");
      const { offset, limit } = paging.read(args);
      const computers = chosenComputers({ ...reach, client }, args.text("computer"));
      // Pages of one document stand together, so those of a Computer are taken all or none.
      const share = query === undefined
        ? limit
        : Math.max(1, Math.floor(limit / Math.max(1, computers.length)));
      const filters = query === undefined ? { keywords, fileType } : { query };
      const page = { ...filters, offset, limit: share, signal };
      const answers = await askEach(computers, (computer) => computer.getFinder(page));
      const found = answers.flatMap((answer) => "value" in answer ? [answer] : []);
      const { documents, next } = query === undefined ? mergePages(found, { offset, limit }) : {
        ...mergePages(found, { offset, limit: Infinity }),
        next: nextPages(found, { offset, limit: share }),
      };
      const total_count = found.reduce((sum, { value }) => sum + value.totalCount, 0);
      const notices = found.flatMap(({ value, computer }) =>
        value.notice === undefined ? [] : [`Computer ${toSeenName(computer)}: ${toSeenLine(value.notice)}`]
      );
      const what = query === undefined ? "documents" : "pages";
      const lines = found.length === 0 ? [] : toLines(documents, { total_count, next, what });
      const problems = problemLines(answers);
      const text = [...problems, ...lines, ...notices].join("\n");
      const notice = [...problems, ...notices].join("\n");
      return {
        content: [{ type: "text", text }],
        structuredContent: { ...(notice === "" ? {} : { notice }), documents, total_count },
        ...(found.length === 0 ? { isError: true } : {}),
      };
    },
  });
}

type FoundDocument = DPEDocumentSummary & { readonly computer: string };

/**
 * Merges pages that begin at the same rank, since each Computer has sorted its own documents: the first document of each,
 * then the second of each, and so on. Only whole ranks are taken, so that the next page begins after them on each Computer;
 * one rank at least, which may have more documents than the limit.
 */
export function mergePages(
  pages: readonly { readonly computer: string; readonly value: FinderPage }[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): { readonly documents: readonly FoundDocument[]; readonly next: number | undefined } {
  const documents: FoundDocument[] = [];
  let rank = 0;
  for (;; rank++) {
    const level = pages.flatMap(({ computer, value }) => {
      const document = value.documents[rank];
      return document === undefined ? [] : [{ computer, ...document }];
    });
    if (level.length === 0 || (rank > 0 && documents.length + level.length > limit)) break;
    documents.push(...level);
  }
  const isMore = pages.some(({ value }) => value.totalCount > offset + rank && rank > 0);
  return { documents, next: isMore ? offset + rank : undefined };
}

/** Where the pages that a search has found go on. */
function nextPages(
  pages: readonly { readonly value: FinderPage }[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): number | undefined {
  const isMore = pages.some(({ value: { documents, totalCount } }) => {
    const count = documents.reduce((sum, { hits = [undefined] }) => sum + hits.length, 0);
    return count >= limit && totalCount > offset + count;
  });
  return isMore ? offset + limit : undefined;
}

function toLines(
  documents: readonly FoundDocument[],
  { total_count, next, what }: {
    readonly total_count: number;
    readonly next: number | undefined;
    readonly what: "documents" | "pages";
  },
): string[] {
  if (documents.length === 0 && total_count > 0) {
    return [`Only ${total_count} ${what} fit: use a lower offset.`];
  }
  if (documents.length === 0) {
    return [
      what === "pages" ? "No page fits. Try other words." : "No document fits. Try other keywords, or none.",
    ];
  }
  const more = next === undefined ? [] : [`${total_count} ${what} fit: go on with offset ${next}.`];
  return [...documents.flatMap(toDocumentLines), ...more];
}

function toDocumentLines(
  { title, uri, computer, file_type, page_count, summary, last_modified, hits }: FoundDocument,
): string[] {
  const facts = [file_type, last_modified ?? ""].filter((fact) => fact !== "").map(toSeenWord);
  const about = [...facts, pagesOf(page_count), `Computer ${toSeenName(computer)}`].join(", ");
  const words = summary === undefined || hits !== undefined ? "" : `. ${toSeenLine(summary)}`;
  const lines = (hits ?? []).map((hit) => toHitLine(hit, title));
  return [`- ${toSeenWord(title)}: ${toSeenUri(uri)} (${about})${words}`, ...lines];
}
