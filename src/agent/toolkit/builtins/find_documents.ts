/** `find_documents`: the documents of Computers. */
import { DEFAULT_FINDER_LIMIT, MAX_FINDER_LIMIT } from "../../../protocol/finder.ts";
import type { DPEDocumentSummary } from "../../../protocol/dpe.ts";
import type { RemoteComputer } from "../../remote_computer.ts";
import type { FinderOptions } from "../../remote_options.ts";
import { toSeenLine, toSeenName, toSeenUri, toSeenWord } from "../../../text/safe_text.ts";
import type { LocalTool } from "../local_tool.ts";
import {
  type Answered,
  askEach,
  chosenComputers,
  COMPUTER_PROPERTY,
  makeBuiltin,
  pagesOf,
  problemLines,
  type Reach,
} from "./builtin.ts";

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
      offset: { type: "integer", minimum: 0, description: "How many documents to skip, to go on." },
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
      const keywords = args.texts("keywords");
      const fileType = args.text("file_type");
      const offset = args.integer("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
      const limit = args.integer("limit", { min: 1, max: MAX_FINDER_LIMIT }) ?? DEFAULT_FINDER_LIMIT;
      const page = { keywords, fileType, offset, limit, signal };
      const answers = await findPage(chosenComputers(reach, args.text("computer")), page);
      const found = answers.flatMap((answer) => "value" in answer ? [answer] : []);
      const documents = found
        .flatMap(({ computer, value: { rank, documents } }) =>
          documents.map((document, index) => ({ rank: rank + index, document: { computer, ...document } }))
        )
        .sort((one, other) => one.rank - other.rank)
        .slice(0, limit)
        .map(({ document }) => document);
      const total_count = found.reduce((sum, { value }) => sum + value.totalCount, 0);
      const text = [...toLines(documents, { total_count, offset }), ...problemLines(answers)].join("\n");
      return {
        content: [{ type: "text", text }],
        structuredContent: { documents, total_count },
        ...(found.length === 0 ? { isError: true } : {}),
      };
    },
  });
}

/** Some documents of a Computer, from a rank on: each Computer has sorted its own. */
interface Found {
  readonly rank: number;
  readonly documents: readonly DPEDocumentSummary[];
  readonly totalCount: number;
}

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Asks each Computer for its share of a page. How much an offset skips on each depends on how many each has. */
async function findPage(
  computers: readonly RemoteComputer[],
  { offset, limit, ...query }: FinderOptions & Page,
): Promise<Answered<Found>[]> {
  const ask = async (computer: RemoteComputer, page: Page): Promise<Found> => ({
    ...await computer.getFinder({ ...query, ...page }),
    rank: page.offset,
  });
  if (offset === 0 || computers.length === 1) {
    return await askEach(computers, (computer) => ask(computer, { offset, limit }));
  }
  const counted = await askEach(computers, (computer) => ask(computer, { offset: 0, limit: 1 }));
  const totals = new Map(
    counted.flatMap((each) => "value" in each ? [[each.computer, each.value.totalCount] as const] : []),
  );
  const names = [...totals.keys()];
  const parts = sharesOfPage([...totals.values()], { offset, limit });
  const shares = new Map(parts.map((part, index) => [names[index], part]));
  const answers = await askEach(
    computers.filter(({ name }) => totals.has(name)),
    async (computer): Promise<Found> => {
      const share = shares.get(computer.name) ?? { offset: 0, limit: 0 };
      const totalCount = totals.get(computer.name) ?? 0;
      return share.limit > 0 ? await ask(computer, share) : { rank: share.offset, documents: [], totalCount };
    },
  );
  return [...answers, ...counted.filter((each) => "problem" in each)];
}

/**
 * Divides a page among Computers that take turns: the first document of each, then the second of each, and so on.
 *
 * @param totals How many documents each Computer has.
 * @return What to skip and to take of each.
 */
export function sharesOfPage(totals: readonly number[], { offset, limit }: Page): Page[] {
  return totals.map((total, computer) => {
    const first = firstRankFrom(offset, { totals, computer });
    return {
      offset: first,
      limit: Math.min(total, firstRankFrom(offset + limit, { totals, computer })) - first,
    };
  });
}

/** The lowest rank of a Computer's documents that stands at `position` or later in the order of all. */
function firstRankFrom(
  position: number,
  { totals, computer }: { readonly totals: readonly number[]; readonly computer: number },
): number {
  const positionOf = (rank: number) =>
    totals.reduce((sum, total, index) => sum + Math.min(total, index < computer ? rank + 1 : rank), 0);
  let [low, high] = [0, totals[computer] ?? 0];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (positionOf(middle) >= position) high = middle;
    else low = middle + 1;
  }
  return low;
}

type FoundDocument = DPEDocumentSummary & { readonly computer: string };

function toLines(
  documents: readonly FoundDocument[],
  { total_count, offset }: { readonly total_count: number; readonly offset: number },
): string[] {
  if (documents.length === 0 && total_count > 0 && offset > 0) {
    return [`Only ${total_count} documents fit: use a lower offset.`];
  }
  if (documents.length === 0) return ["No document fits. Try other keywords, or none."];
  const more = offset + documents.length < total_count
    ? [`${total_count} documents fit: go on with offset ${offset + documents.length}.`]
    : [];
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
