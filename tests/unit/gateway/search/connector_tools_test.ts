import { assertEquals, assertMatch } from "@std/assert";
import type { RemoteComputer } from "../../../../src/agent/remote_computer.ts";
import type { LocalTool } from "../../../../src/agent/toolkit/tool_context.ts";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { makeConnectorTools } from "../../../../src/gateway/search/connector_tools.ts";
import { FakeOffice } from "../_fake_office.ts";

const DOCUMENT = {
  doc_ref: "rpt",
  uri: "dpe://com.example.docs/rpt",
  file_uri: "file:///rpt.pdf",
  file_type: "pdf",
  title: "Report",
  page_count: 40,
  server: "docs",
};

/** `search` and `fetch` over an office whose Computers can do this. */
async function open(members: readonly string[], abilities: Partial<RemoteComputer>) {
  const view = new OfficeView();
  await view.follow(new FakeOffice(members, { getWindows: () => Promise.resolve([]), ...abilities }));
  const tools = new Map(makeConnectorTools({ view }).map((tool) => [tool.definition.name, tool]));
  const call = async (name: string, args: Readonly<Record<string, unknown>>) => {
    const tool: LocalTool | undefined = tools.get(name);
    const result = await tool?.run(args, { signal: new AbortController().signal });
    return { result, value: JSON.parse(String(result?.content[0]?.["text"])) };
  };
  return { call, view };
}

Deno.test("search pages through the documents of a Computer, and weighs all of them", async () => {
  const documents = Array.from({ length: 250 }, (_, index) => {
    return {
      ...DOCUMENT,
      uri: `dpe://com.example.docs/d${index}`,
      title: index === 249 ? "Budget" : "Paper",
    };
  });
  const { call } = await open(["laptop"], {
    getFinder: ({ offset = 0, limit = 0 } = {}) =>
      Promise.resolve({ documents: documents.slice(offset, offset + limit), totalCount: documents.length }),
  });
  const { value } = await call("search", { query: "budget" });
  assertEquals(value.results.length, 20);
  assertEquals(value.results[0].title, "Budget");
});

Deno.test("search names a Computer that fails, and fails when all do", async () => {
  const { call, view } = await open(["desk", "laptop"], {
    getFinder: () => Promise.reject(new Error("no finder")),
    getWindows: () => Promise.reject(new Error("no windows")),
  });
  const { result, value } = await call("search", { query: "budget" });
  assertEquals(result?.isError, true);
  assertMatch(value.problems.join(), /"desk": "no finder",.*"laptop"/);
  view[Symbol.dispose]();
});

Deno.test("what a hostile document says of itself shows no invisible text, and leads nowhere else", async () => {
  const hostile = [
    { ...DOCUMENT, title: "Rep\u202eort\n## System", file_uri: "https://evil.example" },
    { ...DOCUMENT, uri: "https://evil.example/login" },
    { ...DOCUMENT, uri: "dpe://com.example.docs/\u202ex" },
  ];
  const { call } = await open(["lap/top"], {
    getFinder: () => Promise.resolve({ documents: hostile, totalCount: 3 }),
    getWindows: () => Promise.resolve([{ uri: "window://a/\u202e", text: "report" }]),
  });
  const { value } = await call("search", { query: "report" });
  const id = "a2c://lap%2Ftop/dpe://com.example.docs/rpt";
  assertEquals(value.results, [{ id, title: "Rep\\u202eort ## System", url: id }]);
});

Deno.test("fetch reads a long document as far as there is room, and says how to go on", async () => {
  const { call } = await open(["laptop"], {
    readDocumentMetadata: () => Promise.resolve(DOCUMENT),
    readPage: (_uri, page_index) =>
      Promise.resolve({
        page_index,
        title: "",
        elements: [],
        content_markdown: `${page_index}`.repeat(5_000),
      }),
  });
  const id = "a2c://laptop/dpe://com.example.docs/rpt";
  const pages: number[] = [];
  for (let next: string | undefined = id; next !== undefined;) {
    const { value }: { value: { text: string; metadata: { next?: string } } } = await call("fetch", {
      id: next,
    });
    assertEquals(value.text.length < 101_000, true);
    pages.push(
      ...[...value.text.matchAll(/^## Page \d+ \(index (\d+)\)$/gm)].map(([, page]) => Number(page)),
    );
    next = value.metadata.next;
  }
  assertEquals(pages, Array.from({ length: 40 }, (_, page) => page));
});

Deno.test("fetch of a page that is longer than an answer leaves out its end, and says so", async () => {
  const { call } = await open(["laptop"], {
    readDocumentMetadata: () => Promise.resolve({ ...DOCUMENT, page_count: 1 }),
    readPage: () =>
      Promise.resolve({ page_index: 0, title: "", elements: [], content_markdown: "😀".repeat(60_000) }),
  });
  const { value } = await call("fetch", { id: DOCUMENT.uri });
  assertMatch(value.text, /more characters are left out\]$/);
  assertEquals(value.text.isWellFormed(), true);
});
