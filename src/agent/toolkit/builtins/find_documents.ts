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
import { pagesOf } from "../../../local_tools/document_answers.ts";

export function findDocuments(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "find_documents",
    title: "Find documents",
    description:
      "Finds documents (reports, sheets, slides, notes and the like) on Computers by their title, keywords and summary. " +
      "Read one with read_document.",
    properties: {
      computer: COMPUTER_PROPERTY,
      keywords: {
        type: "array",
        items: { type: "string" },
        description:
          "Only documents that contain one of these words in title, keywords or summary. All when absent.",
      },
      file_type: { type: "string", description: "Only documents of this type, such as pdf or xlsx." },
      offset: {
        type: "integer",
        minimum: 0,
        description: "How many documents of each Computer to skip, to go on.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_FINDER_LIMIT,
        description: "The most documents; 20 by default.",
      },
    },
    outputSchema: {
      type: "object",
      properties: {
        documents: { type: "array", items: { type: "object" } },
        total_count: { type: "integer" },
      },
      required: ["documents", "total_count"],
    },
    async run(args, { signal, clientName: client }) {
      const keywords = args.texts("keywords");
      const fileType = args.text("file_type");
      const offset = args.integer("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
      const limit = args.integer("limit", { min: 1, max: MAX_FINDER_LIMIT }) ?? DEFAULT_FINDER_LIMIT;
      const page = { keywords, fileType, offset, limit, signal };
      const computers = chosenComputers({ ...reach, client }, args.text("computer"));
      const answers = await askEach(computers, (computer) => computer.getFinder(page));
      const found = answers.flatMap((answer) => "value" in answer ? [answer] : []);
      const { documents, next } = mergePages(found, { offset, limit });
      const total_count = found.reduce((sum, { value }) => sum + value.totalCount, 0);
      const text = [...toLines(documents, { total_count, next }), ...problemLines(answers)].join("\n");
      return {
        content: [{ type: "text", text }],
        structuredContent: { documents, total_count },
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

function toLines(
  documents: readonly FoundDocument[],
  { total_count, next }: { readonly total_count: number; readonly next: number | undefined },
): string[] {
  if (documents.length === 0 && total_count > 0) {
    return [`Only ${total_count} documents fit: use a lower offset.`];
  }
  if (documents.length === 0) return ["No document fits. Try other keywords, or none."];
  const more = next === undefined ? [] : [`${total_count} documents fit: go on with offset ${next}.`];
  return [...documents.map(toLine), ...more];
}

function toLine(
  { title, uri, computer, file_type, page_count, summary, last_modified }: FoundDocument,
): string {
  const facts = [file_type, last_modified ?? ""].filter((fact) => fact !== "").map(toSeenWord);
  const about = [...facts, pagesOf(page_count), `Computer ${toSeenName(computer)}`].join(", ");
  const words = summary === undefined ? "" : `. ${toSeenLine(summary)}`;
  return `- ${toSeenWord(title)}: ${toSeenUri(uri)} (${about})${words}`;
}
