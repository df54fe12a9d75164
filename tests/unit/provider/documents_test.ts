import type { DPEPage } from "../../../src/protocol/dpe.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { SmcpError } from "../../../src/protocol/errors.ts";
import { type DocumentSource, Provider } from "../../../src/provider/mod.ts";
import { Provided } from "./_provided.ts";
import { HOST, lazySource, REPORT, REPORT_INFO, REPORT_PAGES, SIMPLE } from "./_report.ts";

const METADATA = {
  doc_ref: "rpt-2026",
  uri: REPORT,
  file_uri: "file:///data/reports/2026-annual.xlsx",
  file_type: "xlsx",
  title: "2026 年度报告",
  page_count: 3,
  keywords: ["财务", "年报"],
  summary: "2026 年度财务与运营报告",
  last_modified: "2026-01-15T08:30:00Z",
};
const CONTRACT_URI = `dpe://${HOST}/contracts%2Fa%201.pdf`;
const CONTRACT = {
  doc_ref: "contracts/a 1.pdf",
  uri: CONTRACT_URI,
  file_uri: CONTRACT_URI,
  file_type: "pdf",
  title: "contracts/a 1.pdf",
  page_count: 0,
};

const SOURCES: Readonly<Record<string, DocumentSource>> = {
  "list() and pages()": SIMPLE,
  "document() and page()": lazySource(),
};

async function open(source: DocumentSource): Promise<Provided> {
  return await Provided.open((provider) => void provider.publishDocuments(source));
}

for (const [name, source] of Object.entries(SOURCES)) {
  // proves: dpe-content-level-0, dpe-level-0
  Deno.test(`a source of ${name} answers Level 0 with all documents and their number`, async () => {
    await using provided = await open(source);
    assertEquals(await provided.json(`dpe://${HOST}`), { documents: [METADATA, CONTRACT], total_count: 2 });
  });

  Deno.test(`a source of ${name} finds pages by their text where it has a search, else answers all`, async () => {
    const search: DocumentSource["search"] = (query, { docRef = "rpt-2026", offset, limit }) => ({
      hits: [{ docRef, page: offset, pageTitle: query, elementId: "t", snippet: `${limit}` }],
      total: 7,
      notIndexed: 1,
      notice: "One is missing.",
    });
    await using provided = await open({ ...source, search });
    const hits = [{ page_index: 2, title: "a b", element_id: "t", uri: `${REPORT}/pages/2`, snippet: "5" }];
    const gaps = { not_indexed: 1, notice: "One is missing." };
    assertEquals(
      await provided.json(`dpe://${HOST}?query=a%20b&offset=2&limit=5`),
      { documents: [{ ...METADATA, hits }], total_count: 7, ...gaps },
    );
    assertEquals(
      await provided.json(`${REPORT}?query=a%20b&offset=2&limit=5`),
      { ...METADATA, hits, hit_count: 7, ...gaps },
    );
    await using unable = await open(source);
    assertEquals(await unable.json(`dpe://${HOST}?query=a`), {
      documents: [METADATA, CONTRACT],
      total_count: 2,
    });
  });

  Deno.test(`a source of ${name} answers a search at Level 0 with the documents that it finds`, async () => {
    await using provided = await open(source);
    const search = (query: string) => provided.json(`dpe://${HOST}?${query}`);
    assertEquals(await search("keywords=%E8%B4%A2%E5%8A%A1"), { documents: [METADATA], total_count: 1 });
    assertEquals(await search("file_type=pdf"), { documents: [CONTRACT], total_count: 1 });
    assertEquals(await search("keywords=a,rpt&file_type=docx"), { documents: [], total_count: 0 });
    assertEquals(await search("keywords=&limit=1"), { documents: [METADATA], total_count: 2 });
  });

  // proves: dpe-content-metadata, dpe-level-1, dpe-query-depth
  Deno.test(`a source of ${name} answers Level 1 with the metadata alone`, async () => {
    await using provided = await open(source);
    assertEquals(await provided.json(REPORT), METADATA);
    assertEquals(await provided.json(`${REPORT}?depth=metadata`), METADATA);
    assertEquals(await provided.json(CONTRACT_URI), CONTRACT);
  });

  // proves: dpe-content-pages, dpe-query-offset, dpe-query-limit
  Deno.test(`a source of ${name} answers depth=pages with a part of the page index`, async () => {
    await using provided = await open(source);
    const page = (page_index: number, title: string, element_count: number) => ({
      page_index,
      title,
      element_count,
      uri: `${REPORT}/pages/${page_index}`,
      doc_ref: "rpt-2026",
    });
    assertEquals(await provided.json(`${REPORT}?depth=pages`), {
      ...METADATA,
      pages: [page(0, "概览", 3), page(1, "收入分析", 1), page(2, "附录", 0)],
      page_offset: 0,
      page_limit: 20,
      page_total: 3,
    });
    const { pages, page_offset, page_limit } = await provided.json(`${REPORT}?depth=pages&offset=1&limit=1`);
    assertEquals({ pages, page_offset, page_limit }, {
      pages: [page(1, "收入分析", 1)],
      page_offset: 1,
      page_limit: 1,
    });
    assertEquals((await provided.json(`${REPORT}?depth=pages&offset=9007199254740991`))["pages"], []);
  });

  // proves: dpe-content-level-2, dpe-level-2
  Deno.test(`a source of ${name} answers Level 2 with the elements of a page`, async () => {
    await using provided = await open(source);
    assertEquals(await provided.json(`${REPORT}/pages/0`), {
      page_index: 0,
      title: "概览",
      doc_ref: "rpt-2026",
      uri: `${REPORT}/pages/0`,
      elements: [
        {
          element_id: "h-001",
          category: "heading",
          summary: "2026 年度总结",
          content: { level: 1, text: "2026 年度总结" },
        },
        { element_id: "p0-e1", category: "text", content: { text: "本报告总结了运营情况" } },
        {
          element_id: "tbl-001",
          category: "table",
          summary: "季度收入对比表",
          content: { headers: ["季度", "收入"], rows: [["Q1", "1,250"]] },
        },
      ],
      element_count: 3,
    });
  });

  // proves: dpe-content-level-3, dpe-level-3
  Deno.test(`a source of ${name} answers Level 3 with one element and its details`, async () => {
    await using provided = await open(source);
    assertEquals(await provided.json(`${REPORT}/elements/tbl-001`), {
      element_id: "tbl-001",
      category: "table",
      doc_ref: "rpt-2026",
      page_index: 0,
      uri: `${REPORT}/elements/tbl-001`,
      summary: "季度收入对比表",
      content: { headers: ["季度", "收入"], rows: [["Q1", "1,250"]] },
      metadata: { source_range: "A1:B2" },
    });
    assertEquals((await provided.json(`${REPORT}/elements/tbl-002`))["page_index"], 1);
    assertEquals((await provided.json(`${REPORT}/elements/p0-e1`))["content"], {
      text: "本报告总结了运营情况",
    });
  });

  // proves: guide-error-details
  Deno.test(`a source of ${name} refuses what it does not have with 4201, 4202 and 4203`, async () => {
    await using provided = await open(source);
    const refusal = (uri: string) => provided.refusal("resources/read", { uri });
    for (const rest of ["", "?depth=pages", "/pages/0", "/elements/h-001"]) {
      assertEquals(await refusal(`dpe://${HOST}/..%2Fsecret${rest}`), [4201, { doc_ref: "../secret" }]);
    }
    const doc_ref = "rpt-2026";
    assertEquals(await refusal(`${REPORT}/pages/3`), [4202, { doc_ref, page_index: 3, page_count: 3 }]);
    for (const element_id of ["tbl-9", "p0-e0", "p9-e9"]) {
      assertEquals(await refusal(`${REPORT}/elements/${element_id}`), [4203, { doc_ref, element_id }]);
    }
  });
}

Deno.test("elements says which elements come beside the Markdown, which tells of all of them", async () => {
  await using provided = await open(SIMPLE);
  const read = async (query: string) => {
    const page = await provided.json(`${REPORT}/pages/0?${query}`);
    const { elements, element_count, content_markdown = "" } = page as unknown as DPEPage;
    return [elements.map(({ category }) => category).join(), element_count, content_markdown.includes("Q1")];
  };
  assertEquals(await read("format=markdown&elements=none"), ["", 3, true]);
  assertEquals(await read("format=markdown&elements=table,image"), ["table", 3, true]);
  assertEquals(await read("format=json&elements=none"), ["heading,text,table", 3, false]);
  const element = await provided.json(`${REPORT}/elements/tbl-001?format=markdown&elements=none`);
  assertEquals([element["content"], element["metadata"]], [{}, undefined]);
});

// proves: finder-provide-categories, dpe-query-categories
Deno.test("categories keeps the elements of a page that are of these", async () => {
  await using provided = await open(SIMPLE);
  const page = await provided.json(`${REPORT}/pages/0?categories=table,heading`);
  assertEquals(page["element_count"], 2);
  const ids = (page["elements"] as { element_id: string }[]).map(({ element_id }) => element_id);
  assertEquals(ids, ["h-001", "tbl-001"]);
  assertEquals((await provided.json(`${REPORT}/pages/0?categories=video`))["elements"], []);
});

// proves: dpe-query-format
Deno.test("format adds content_markdown or content_text at Levels 2 and 3, and nothing at Levels 0 and 1", async () => {
  await using provided = await open(SIMPLE);
  const page = await provided.json(`${REPORT}/pages/0?format=markdown&categories=heading,table`);
  const table = "| 季度 | 收入 |\n| --- | --- |\n| Q1 | 1,250 |";
  assertEquals(page["content_markdown"], `# 2026 年度总结\n\n${table}`);
  const text = await provided.json(`${REPORT}/pages/0?format=text&categories=heading`);
  assertEquals([text["content_text"], text["content_markdown"]], ["2026 年度总结", undefined]);
  const element = `${REPORT}/elements/tbl-001`;
  assertEquals((await provided.json(`${element}?format=markdown`))["content_markdown"], table);
  assertEquals((await provided.json(`${element}?format=text`))["content_text"], "季度\t收入\nQ1\t1,250");
  assertEquals(await provided.json(`${REPORT}?format=markdown`), METADATA);
  assertEquals((await provided.json(`dpe://${HOST}?format=text`))["total_count"], 2);
  for (const uri of [`dpe://${HOST}`, REPORT, `${REPORT}/pages/0`, element]) {
    assertEquals(await provided.json(`${uri}?format=json`), await provided.json(uri), uri);
  }
  const { contents } = await provided.request("resources/read", { uri: `${element}?format=markdown` });
  assertEquals((contents as { mimeType: string }[])[0]?.mimeType, "application/json");
});

// proves: guide-uri-4204, guide-error-details, mcp-validate-uris
Deno.test("a malformed dpe URI is refused with 4204, for a read and for a subscription", async () => {
  await using provided = await open(SIMPLE);
  const malformed = [
    `${REPORT}/pages/x`,
    `${REPORT}/chapters/1`,
    `${REPORT}?limit=0`,
    `${REPORT}/pages/0?categories=none`,
    "dpe://",
  ];
  for (const uri of malformed) {
    assertEquals(await provided.refusal("resources/read", { uri }), [4204, { uri }]);
    assertEquals(await provided.refusal("resources/subscribe", { uri }), [4204, { uri }]);
  }
});

// proves: mcp-error-not-found
Deno.test("a dpe URI of another host is -32002, with its uri", async () => {
  await using provided = await open(SIMPLE);
  const uri = "dpe://com.example.other/rpt-2026";
  assertEquals(await provided.refusal("resources/read", { uri }), [-32002, { uri }]);
});

Deno.test("segments are read one by one: dots stay, and an encoded slash belongs to its key", async () => {
  await using provided = await open({
    host: HOST,
    list: () => [{ docRef: ".." }, { docRef: "a/../b" }],
    pages: (docRef) => [{
      title: docRef,
      elements: [{ elementId: "../x", category: "text", content: { text: "" } }],
    }],
  });
  assertEquals(await provided.uris(), [`dpe://${HOST}/..`, `dpe://${HOST}/a%2F..%2Fb`]);
  assertEquals((await provided.json(`dpe://${HOST}/..`))["doc_ref"], "..");
  assertEquals((await provided.json(`dpe://${HOST}/a%2F..%2Fb/pages/0`))["title"], "a/../b");
  const uri = `dpe://${HOST}/../elements/..%2Fx`;
  assertEquals((await provided.json(uri))["uri"], uri);
});

Deno.test("a source of page() makes no page that nobody reads", async () => {
  const calls: string[] = [];
  await using provided = await open(lazySource(calls));
  await provided.json(`dpe://${HOST}`);
  await provided.json(REPORT);
  assertEquals(calls.splice(0), ["document rpt-2026"]);
  await provided.json(`${REPORT}?depth=pages&offset=1&limit=1`);
  await provided.json(`${REPORT}/pages/2`);
  await provided.json(`${REPORT}/elements/p0-e1`);
  assertEquals(calls.filter((call) => call.startsWith("page")), [
    "page rpt-2026 1",
    "page rpt-2026 2",
    "page rpt-2026 0",
  ]);
});

Deno.test("pageIndex() and element() spare a source its pages", async () => {
  await using provided = await open({
    host: HOST,
    list: () => [{ ...REPORT_INFO, pageCount: 1_000_000 }],
    page: () => {
      throw new Error("A page was made");
    },
    pageIndex: (_docRef, { offset, limit }) =>
      Array.from({ length: limit }, (_, i) => ({ title: `Page ${offset + i}`, elementCount: 7 })),
    element: (_docRef, elementId) =>
      elementId === "e" ? { pageIndex: 5, element: { category: "text", content: { text: "!" } } } : undefined,
  });
  const { pages } = await provided.json(`${REPORT}?depth=pages&offset=999998&limit=100`);
  assertEquals((pages as { title: string }[]).map(({ title }) => title), ["Page 999998", "Page 999999"]);
  assertEquals((await provided.json(`${REPORT}/elements/e`))["page_index"], 5);
  assertEquals((await provided.refusal("resources/read", { uri: `${REPORT}/elements/f` }))[0], 4203);
});

Deno.test("Level 1 has what a document says of itself, and its outline when asked for", async () => {
  const metadata = { author: "Ada Byron", created_at: "2026-01-15" };
  const sections = [
    { title: "Results", level: 1, page: 0 },
    { title: "Revenue", level: 2, page: 1 },
    { title: "Outlook", level: 1, page: 2 },
  ];
  await using provided = await open({
    ...lazySource(),
    document: () => ({ ...REPORT_INFO, pageCount: 3, metadata }),
    outline: () => sections,
  });
  assertEquals(await provided.json(REPORT), { ...METADATA, metadata });
  const outline = [{ title: "Revenue", level: 1, page_index: 1 }, {
    title: "Outlook",
    level: 1,
    page_index: 2,
  }];
  const asked = await provided.json(`${REPORT}?outline=1-1`);
  assertEquals(asked, { ...METADATA, metadata, outline: outline.slice(0, 1) });
  const all = await provided.json(`${REPORT}?depth=pages&outline=all&limit=1`);
  assertEquals([all["outline"], all["page_total"]], [
    sections.map(({ title, level, page }) => ({ title, level, page_index: page })),
    3,
  ]);
});

Deno.test("a document that list() merely mentions is completed by document() at Level 0", async () => {
  await using provided = await open({
    ...lazySource(),
    list: () => [{ docRef: "rpt-2026" }, { docRef: "gone" }],
  });
  assertEquals(await provided.json(`dpe://${HOST}`), { documents: [METADATA], total_count: 1 });
});

Deno.test("one document that fails is left out of the catalogue and reported, the rest is served", async () => {
  await using provided = await open({
    host: HOST,
    list: () => [{ docRef: "broken" }, REPORT_INFO, { docRef: "", title: "No key" }],
    pages: (docRef) => {
      if (docRef === "broken") throw new Error("Cannot read the file");
      return REPORT_PAGES;
    },
  });
  assertEquals(await provided.json(`dpe://${HOST}`), { documents: [METADATA], total_count: 1 });
  assertEquals(provided.errors.length, 2);
  assertStringIncludes(provided.errors[0]?.message ?? "", "docRef");
  assertEquals(provided.errors[1]?.message, "Cannot read the file");
  assertEquals(await provided.uris(), [`dpe://${HOST}/broken`, REPORT]);
});

// proves: finder-provide-updated, mcp-updated
Deno.test("changed() tells who subscribed to the document, to a part of it or to its catalogue", async () => {
  await using provided = await Provided.open();
  const documents = provided.provider.publishDocuments(SIMPLE);
  await provided.heard();
  documents.changed("rpt-2026");
  assertEquals(await provided.heard(), []);

  await provided.subscribe(`dpe://${HOST}/`);
  documents.changed("rpt-2026");
  assertEquals(await provided.heard(), [`updated ${REPORT}`]);

  await provided.subscribe(`${REPORT}/pages/0`, `${REPORT}?depth=pages`, REPORT, CONTRACT_URI);
  documents.changed("rpt-2026");
  assertEquals(await provided.heard(), [
    `updated ${REPORT}/pages/0`,
    `updated ${REPORT}?depth=pages`,
    `updated ${REPORT}`,
  ]);
  documents.changed("contracts/a 1.pdf");
  assertEquals(await provided.heard(), [`updated ${CONTRACT_URI}`]);
});

// proves: finder-provide-list-changed, mcp-list-changed
Deno.test("listChanged() and remove() tell every client, and the subscribers of the catalogue", async () => {
  await using provided = await Provided.open();
  const documents = provided.provider.publishDocuments(SIMPLE);
  assertEquals(await provided.heard(), ["list_changed"]);
  documents.listChanged();
  assertEquals(await provided.heard(), ["list_changed"]);
  await provided.subscribe(`dpe://${HOST}`);
  documents.listChanged();
  assertEquals(await provided.heard(), ["list_changed", `updated dpe://${HOST}`]);
  documents.remove();
  documents.remove();
  assertEquals(await provided.heard(), ["list_changed"]);
  assertEquals(await provided.refusal("resources/read", { uri: REPORT }), [-32002, { uri: REPORT }]);
  assertThrows(() => documents.changed("rpt-2026"), TypeError, "removed");
});

Deno.test("publishDocuments() refuses a source that cannot work", () => {
  const { list, pages } = SIMPLE;
  const provider = new Provider();
  const refused: readonly [unknown, string][] = [
    [{ host: HOST, pages }, "no list()"],
    [{ host: HOST, list }, "neither pages() nor page()"],
    [{ host: "a b", list, pages }, 'host "a b"'],
  ];
  for (const [source, message] of refused) {
    assertThrows(() => provider.publishDocuments(source as DocumentSource), TypeError, message);
  }
  const documents = provider.publishDocuments({ ...SIMPLE, host: "Com.Example.Docs" });
  assertEquals(documents.host, HOST);
  assertThrows(() => provider.publishDocuments(SIMPLE), TypeError, "already");
  assertThrows(() => documents.uri("rpt-2026", "chapters/1"), SmcpError);
});

Deno.test("a source of page() without a page count is told what it lacks", async () => {
  await using provided = await open({ host: HOST, list: () => [{ docRef: "a" }], page: () => undefined });
  assertEquals((await provided.refusal("resources/read", { uri: `dpe://${HOST}/a` }))[0], -32603);
  assertStringIncludes(provided.errors[0]?.message ?? "", "pageCount");
});

Deno.test("the date of a document is completed to an instant; one with an invalid date is left out and reported", async () => {
  const list = () =>
    ["2026-01-15", new Date(0), "soon"].map((lastModified, at) => ({
      docRef: `d${at}`,
      pageCount: 0,
      lastModified,
    }));
  await using provided = await open({ host: HOST, list, page: () => undefined });
  const { documents } = await provided.json(`dpe://${HOST}`) as {
    documents: { last_modified?: string }[];
  };
  assertEquals(documents.map(({ last_modified }) => last_modified), [
    "2026-01-15T00:00:00Z",
    "1970-01-01T00:00:00.000Z",
  ]);
  assertStringIncludes(provided.errors[0]?.message ?? "", "lastModified");
});

// proves: mcp-access-control
Deno.test("a source that refuses a reader does so before anything is read", async () => {
  await using provided = await open({
    host: HOST,
    list: () => [],
    document: (_docRef, { authInfo }) => {
      if (authInfo === undefined) {
        throw new SmcpError(4007, "Not allowed", { details: { doc_ref: "secret" } });
      }
      return { docRef: "secret" };
    },
    page: () => {
      throw new Error("A page was read");
    },
  });
  for (const rest of ["", "/pages/0", "/elements/e"]) {
    const uri = `dpe://${HOST}/secret${rest}`;
    assertEquals(await provided.refusal("resources/read", { uri }), [4007, { doc_ref: "secret" }]);
  }
});
