import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { contents, ScriptedComputer } from "./_scripted_computer.ts";
import { RecordingLogger } from "./_socket.ts";

const URI = "dpe://com.example.docs/rpt%2F2026";

const metadata = {
  doc_ref: "rpt/2026",
  uri: URI,
  file_uri: "file:///rpt.xlsx",
  file_type: "xlsx",
  title: "Report",
  page_count: 2,
};

const table = { element_id: "a/b", category: "table", content: { headers: ["Q"], rows: [["1"]] } };

/** Every URI that this document answers. */
const library: Readonly<Record<string, unknown>> = {
  [URI]: metadata,
  [`${URI}?depth=pages&offset=0&limit=20`]: {
    ...metadata,
    pages: [{ page_index: 0, title: "Sales", element_count: 1, uri: `${URI}/pages/0` }],
    page_offset: 0,
    page_limit: 20,
    page_total: 2,
  },
  [`${URI}?depth=pages&offset=1&limit=1`]: { ...metadata, pages: [], page_offset: 1 },
  [`${URI}/pages/0`]: { page_index: 0, title: "Sales", elements: [table], element_count: 1 },
  [`${URI}/pages/0?format=markdown`]: {
    page_index: 0,
    title: "Sales",
    elements: [table],
    content_markdown: "| Q |",
  },
  [`${URI}/pages/1?format=markdown`]: {
    page_index: 1,
    title: "Costs",
    elements: [],
    content_markdown: "nothing",
  },
  [`${URI}/elements/a%2Fb`]: table,
};

async function withLaptop(
  work: (laptop: ReturnType<Agent["computer"]>, computer: ScriptedComputer) => Promise<void>,
) {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:read_resource"({ uri, mcp_server }) {
        if (mcp_server === "files") return contents(uri, "any text", "text/plain");
        const found = library[String(uri)];
        if (found !== undefined) return contents(uri, JSON.stringify(found));
        return { code: 4201, message: "Document not found", details: { doc_ref: "rpt/2026" } };
      },
      "client:get_finder": ({ req_id }) => ({
        documents: [{ ...metadata, server: "docs" }],
        total_count: 1,
        req_id,
      }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  await work(agent.computer("laptop"), computer);
}

// proves: guide-nav-metadata, dpe-level-1, finder-read-parsed
Deno.test("readDocumentMetadata() reads Level 1", () =>
  withLaptop(async (laptop) => {
    assertEquals(await laptop.readDocumentMetadata(URI), metadata);
    assertEquals((await laptop.readDocumentMetadata(`${URI}?depth=pages`)).page_count, 2);
  }));

// proves: guide-nav-pages
Deno.test("readDocumentPages() reads the page index, its first 20 pages unless told otherwise", () =>
  withLaptop(async (laptop) => {
    assertEquals((await laptop.readDocumentPages(URI)).pages.map(({ title }) => title), ["Sales"]);
    assertEquals((await laptop.readDocumentPages(URI, { offset: 1, limit: 1 })).page_offset, 1);
  }));

// proves: guide-nav-page, dpe-level-2, finder-read-parsed
Deno.test("readPage() reads a page in the format asked for", () =>
  withLaptop(async (laptop) => {
    assertEquals((await laptop.readPage(URI, 0)).elements, [table]);
    assertEquals((await laptop.readPage(URI, 0, { format: "markdown" })).content_markdown, "| Q |");
  }));

// proves: guide-nav-element, dpe-level-3, dpe-opaque-ids, finder-read-parsed
Deno.test("readElement() reads an element, whatever its id", () =>
  withLaptop(async (laptop) => {
    assertEquals(await laptop.readElement(URI, "a/b"), table);
  }));

// proves: finder-walk
Deno.test("all pages of a document can be read from what the catalogue says of it", () =>
  withLaptop(async (laptop) => {
    const { documents: [document] } = await laptop.getFinder();
    const pages: (string | undefined)[] = [];
    for (let index = 0; index < (document?.page_count ?? 0); index++) {
      const page = await laptop.readPage(document?.uri ?? "", index, { format: "markdown" });
      pages.push(page.content_markdown);
    }
    assertEquals(pages, ["| Q |", "nothing"]);
  }));

Deno.test("readResource() returns MCP's result, of any scheme when it is told the MCP server", () =>
  withLaptop(async (laptop, computer) => {
    const { contents: [item] } = await laptop.readResource("file:///a", {
      mcpServer: "files",
      timeoutMs: 5_000,
    });
    assertEquals(item, { uri: "file:///a", mimeType: "text/plain", text: "any text" });
    const { req_id: _, ...body } = computer.lastBody("client:read_resource");
    assertEquals(body, {
      agent: "ada",
      computer: "laptop",
      uri: "file:///a",
      mcp_server: "files",
      timeout: 5,
    });
  }));

// proves: guide-4201-origin
Deno.test("a document that is not there is 4201 with its details", () =>
  withLaptop(async (laptop) => {
    const error = await assertRejects(() => laptop.readDocumentMetadata("dpe://host/other"), SmcpError);
    assertEquals([error.code, error.details], [4201, { doc_ref: "rpt/2026" }]);
  }));

Deno.test("a document URI that is malformed is 4204 before anything is sent", () =>
  withLaptop(async (laptop, computer) => {
    const error = await assertRejects(() => laptop.readPage("dpe://host", 0), SmcpError);
    assertEquals(error.code, 4204);
    assertEquals((await assertRejects(() => laptop.readElement("nonsense", "a"), SmcpError)).code, 4204);
    assertEquals(computer.requests.filter(({ event }) => event === "client:read_resource"), []);
  }));

Deno.test("each helper reads from the MCP server that it is given", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const asked: unknown[] = [];
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:read_resource"({ uri, mcp_server }) {
        asked.push(mcp_server);
        return contents(uri, JSON.stringify({ ...metadata, ...table, page_index: 0, elements: [table, {}] }));
      },
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const from = { mcpServer: "docs" };
  await laptop.readDocumentMetadata(URI, from);
  await laptop.readDocumentPages(URI, from);
  const { elements } = await laptop.readPage(URI, 0, from);
  await laptop.readElement(URI, "a/b", from);
  assertEquals(asked, ["docs", "docs", "docs", "docs"]);
  assertEquals(elements.length, 1, "one bad element costs itself");
});

Deno.test("a document with many flaws is one line in the log, with their number and the first of them", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const page = { ...table, page_index: 0, elements: Array.from({ length: 1_000 }, () => ({})) };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:read_resource": ({ uri }) => contents(uri, JSON.stringify(page)) },
  });
  const logger = new RecordingLogger();
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger });
  assertEquals((await agent.computer("laptop").readPage(URI, 0)).elements, []);
  const warnings = logger.lines.filter(({ level }) => level === "warn");
  assertEquals(warnings.map(({ message }) => message), ["document has flaws"]);
  assertEquals(warnings[0]?.fields["count"], 1_001, "each element, and the title of the page");
});
