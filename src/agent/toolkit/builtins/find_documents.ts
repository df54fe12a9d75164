/** `find_documents`: the documents of Computers. */
import { DEFAULT_FINDER_LIMIT, MAX_FINDER_LIMIT } from "../../../protocol/finder.ts";
import type { DPEDocumentSummary } from "../../../protocol/dpe.ts";
import type { LocalTool } from "../local_tool.ts";
import {
  askEach,
  chosenComputers,
  COMPUTER_PROPERTY,
  makeBuiltin,
  problemLines,
  type Reach,
} from "./builtin.ts";

/** Makes the tool. */
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
      offset: { type: "integer", minimum: 0, description: "How many documents of each Computer to skip." },
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
    async run(args, { signal }) {
      const computers = chosenComputers(reach, args.text("computer"));
      const [keywords, fileType] = [args.texts("keywords"), args.text("file_type")];
      const offset = args.integer("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
      const limit = args.integer("limit", { min: 1, max: MAX_FINDER_LIMIT }) ?? DEFAULT_FINDER_LIMIT;
      const options = { keywords, fileType, offset, limit, signal };
      const answers = await askEach(computers, (computer) => computer.getFinder(options));
      const pages = answers.flatMap((answer) =>
        "value" in answer
          ? [answer.value.documents.map((document) => ({ computer: answer.computer, ...document }))]
          : []
      );
      const documents = inTurns(pages).slice(0, limit);
      const total_count = answers.reduce(
        (sum, answer) => sum + ("value" in answer ? answer.value.totalCount : 0),
        0,
      );
      const text = [...toLines(documents, { total_count, offset }), ...problemLines(answers)].join("\n");
      return {
        content: [{ type: "text", text }],
        structuredContent: { documents, total_count },
        ...(pages.length === 0 ? { isError: true } : {}),
      };
    },
  });
}

/** The best of each Computer first: each has sorted its own. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((list) => list.slice(rank, rank + 1)))
    .flat();
}

type FoundDocument = DPEDocumentSummary & { readonly computer: string };

function toLines(
  documents: readonly FoundDocument[],
  { total_count, offset }: { readonly total_count: number; readonly offset: number },
): string[] {
  if (documents.length === 0) return ["No document fits. Try other keywords, or none."];
  const more = offset + documents.length < total_count
    ? [`${total_count} documents fit; go on with \`offset\`.`]
    : [];
  return [...documents.map(toLine), ...more];
}

function toLine(
  { title, uri, computer, file_type, page_count, summary, last_modified }: FoundDocument,
): string {
  const facts = [file_type, `${page_count} pages`, last_modified, `Computer "${computer}"`];
  const about = facts.filter((fact) => fact !== undefined && fact !== "").join(", ");
  return `- ${title}: ${uri} (${about})${summary === undefined ? "" : `. ${summary}`}`;
}
