/**
 * A source that is too large for memory: pages are built when they are read, and the list of 20,000 documents is paged.
 * An MCP server on stdio. With `--check` it is also its own client, checks the answers and exits:
 *
 * ```sh
 * deno run -A examples/provider/archive.ts --check
 * ```
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { assertEquals } from "@std/assert";
import { type DocumentInfo, type DocumentPage, provide } from "../../src/provider/mod.ts";
import { CheckingClient, serveStdio } from "./_check.ts";

const DOCUMENTS = 20_000;
const PAGES = 5_000;

/** The metadata of each document. The kit does not have to count the pages, because `pageCount` is set. */
const infos: readonly DocumentInfo[] = Array.from({ length: DOCUMENTS }, (_, number) => ({
  docRef: `year-${number}`,
  title: `The year ${number}`,
  fileType: "log",
  pageCount: PAGES,
}));
const infoByRef = new Map(infos.map((info) => [info.docRef, info]));
let pagesMade = 0;

function makePage(docRef: string, pageIndex: number): DocumentPage {
  pagesMade++;
  return {
    title: `Page ${pageIndex}`,
    elements: [{ category: "text", content: { text: `${docRef}, page ${pageIndex}` } }],
  };
}

const server = new McpServer({ name: "archive", version: "1.0.0" });
const documents = provide(server, { pageSize: 5_000 }).publishDocuments({
  host: "com.example.archive",
  list: () => infos,
  document: (docRef) => infoByRef.get(docRef),
  page: (docRef, pageIndex) => makePage(docRef, pageIndex),
  pageIndex: (_docRef, { offset, limit }) =>
    Array.from({ length: limit }, (_, position) => ({ title: `Page ${offset + position}`, elementCount: 1 })),
});

async function check(): Promise<void> {
  await using checking = await CheckingClient.beside(server);
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await checking.client.listResources(cursor === undefined ? {} : { cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assertEquals(new Set(uris).size, DOCUMENTS);

  const year = documents.uri("year-1984");
  const index = await checking.json(`${year}?depth=pages&offset=4990&limit=100`);
  assertEquals(Array.isArray(index["pages"]) && index["pages"].length, 10);
  assertEquals(pagesMade, 0);
  const element = await checking.json(`${year}/elements/p4321-e0`);
  assertEquals(element["content"], { text: "year-1984, page 4321" });
  assertEquals(pagesMade, 1);
  console.log(
    `${DOCUMENTS} documents of ${PAGES} pages were listed, and only one page was built to read an element.`,
  );
}

if (import.meta.main) await (Deno.args.includes("--check") ? check() : serveStdio(server));
