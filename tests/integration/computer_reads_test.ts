import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { ComputerOffice } from "./_computer_office.ts";

const REPORT = "dpe://docs/report";
const PAGE = {
  page_index: 0,
  title: "Overview",
  elements: [{ element_id: "h", category: "heading", content: { level: 2, text: "Sales" } }],
  element_count: 1,
};
const METADATA = {
  doc_ref: "report",
  uri: REPORT,
  file_uri: "file:///report.md",
  file_type: "md",
  title: "Report",
  page_count: 1,
};

const documents = {
  resources: [{ uri: REPORT }],
  contents: {
    "dpe://docs": { documents: [METADATA], total_count: 1 },
    [REPORT]: METADATA,
    [`${REPORT}?depth=pages`]: { ...METADATA, pages: [], page_offset: 0, page_limit: 20, page_total: 1 },
    [`${REPORT}/pages/0`]: PAGE,
    [`${REPORT}/pages/0?format=markdown`]: PAGE,
    [`${REPORT}/pages/0?format=text`]: { ...PAGE, content_text: "by the server" },
    [`${REPORT}/elements/h`]: PAGE.elements[0],
  },
};

function rpcError(code: number, data?: unknown): unknown {
  return { error: { code, message: "Server says no", data } };
}

/** The error that a read is answered with. */
async function refusal(read: Promise<unknown>): Promise<SmcpError> {
  return await assertRejects(() => read, SmcpError);
}

// proves: guide-bridge-host, guide-bridge-answer, mcp-read, mcp-contents
Deno.test("a read goes to the server that has the host, and its answer comes back as it is", async () => {
  const blob = [{ uri: "window://other/a", mimeType: "image/png", blob: "AAEC", extra: { kept: true } }];
  await using office = await ComputerOffice.open(
    scriptedServers({
      docs: documents,
      other: { resources: [{ uri: "window://other/a" }], contents: { "window://other/a": blob } },
    }),
  );
  const { contents } = await office.laptop.readResource(REPORT);
  assertEquals(contents, [{ uri: REPORT, mimeType: "application/json", text: JSON.stringify(METADATA) }]);
  assertEquals((await office.laptop.readResource("window://other/a")).contents, blob);
});

// proves: guide-test-e2e-levels
Deno.test("an Agent reads all four levels one after the other", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ docs: documents }));
  for (const uri of ["dpe://docs", REPORT, `${REPORT}/pages/0`, `${REPORT}/elements/h`]) {
    const { contents } = await office.laptop.readResource(uri);
    assertEquals(contents[0]?.uri, uri);
  }
});

Deno.test("the Computer renders the Markdown that a server left out, and keeps the text that it gave", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ docs: documents }));
  const markdown = await office.laptop.readPage(REPORT, 0, { format: "markdown" });
  assertEquals(markdown.content_markdown, "## Sales");
  assertEquals(markdown.title, "Overview");
  const text = await office.laptop.readPage(REPORT, 0, { format: "text" });
  assertEquals(text.content_text, "by the server");
});

// proves: guide-4204-origin, guide-uri-4204
Deno.test("a malformed dpe:// URI is 4204 and reaches no server", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ docs: documents }));
  for (const uri of ["dpe://", `${REPORT}/pages/x`, `${REPORT}?limit=0`, `${REPORT}/pages/0/more`]) {
    const error = await refusal(office.laptop.readResource(uri));
    assertEquals([error.code, error.details?.["uri"]], [4204, uri]);
    assertEquals((await refusal(office.laptop.readResource(uri, { mcpServer: "docs" }))).code, 4204);
  }
  const asked = (await office.received()).filter(({ method }) => method === "resources/read");
  assert(asked.every(({ params }) => params?.["uri"] === REPORT), "only the Finder's own read is there");
});

// proves: guide-bridge-unknown-host
Deno.test("a dpe:// URI whose host no server has is 4201", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ docs: documents }));
  const error = await refusal(office.laptop.readResource("dpe://elsewhere/report"));
  assertEquals([error.code, error.details], [4201, { uri: "dpe://elsewhere/report", doc_ref: "report" }]);
});

// proves: guide-4201-origin, guide-4202-origin, guide-4203-origin, guide-error-details, guide-error-kept
Deno.test("4201 to 4203 reach the Agent with the server's details, however the server spells them", async () => {
  const cases = [
    { code: 4201, details: { doc_ref: "x" } },
    { code: 4202, details: { page_index: 9, page_count: 1 } },
    { code: 4203, details: { element_id: "x" } },
  ];
  for (const { code, details } of cases) {
    const uri = `${REPORT}/elements/e${code}`;
    await using office = await ComputerOffice.open(
      scriptedServers({
        docs: {
          ...documents,
          contents: {
            [`${uri}a`]: rpcError(code, details),
            [`${uri}b`]: rpcError(-32602, { code, ...details }),
            [`${uri}c`]: rpcError(-32602, { code, message: "m", details }),
          },
        },
      }),
    );
    for (const spelling of ["a", "b", "c"]) {
      const error = await refusal(office.laptop.readResource(uri + spelling));
      assertEquals([error.code, error.details], [code, details]);
      assert(error.message.startsWith("Server says no"), error.message);
    }
  }
});

// proves: mcp-error-not-found
Deno.test("MCP's own not found is 4201, or 4202 and 4203 in a document that is listed", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ docs: documents }));
  const codeOf = async (uri: string) => {
    const { code, details } = await refusal(office.laptop.readResource(uri));
    return [code, details];
  };
  assertEquals(await codeOf("dpe://docs/none"), [4201, { doc_ref: "none" }]);
  assertEquals(await codeOf("dpe://docs/none/pages/3"), [4201, { doc_ref: "none" }]);
  assertEquals(await codeOf(`${REPORT}/pages/3`), [4202, { doc_ref: "report", page_index: 3 }]);
  assertEquals(await codeOf(`${REPORT}/elements/no`), [4203, { doc_ref: "report", element_id: "no" }]);
});

Deno.test("what is not found on another scheme is 404 with its URI, and a bad or homeless URI 400", async () => {
  const window = { resources: [{ uri: "window://w/a" }], contents: { "window://w/a": "a" } };
  await using office = await ComputerOffice.open(scriptedServers({ w: window }));
  const unknownHost = await refusal(office.laptop.readResource("window://elsewhere/a"));
  assertEquals([unknownHost.code, unknownHost.details], [404, { uri: "window://elsewhere/a" }]);
  const unknownPath = await refusal(office.laptop.readResource("window://w/b"));
  assertEquals([unknownPath.code, unknownPath.details], [404, { uri: "window://w/b" }]);
  const named = await refusal(office.laptop.readResource("file:///x", { mcpServer: "w" }));
  assertEquals([named.code, named.details], [404, { uri: "file:///x" }]);
  const malformed = await refusal(office.laptop.readResource("window://w//a"));
  assertEquals([malformed.code, malformed.details], [400, { field: "uri" }]);
  const homeless = await refusal(office.laptop.readResource("file:///x"));
  assertEquals([homeless.code, homeless.details], [400, { field: "uri" }]);
});

Deno.test("another scheme is read from the server that the request names", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [], contents: { "file:///notes": "my notes" } } }),
  );
  const { contents } = await office.laptop.readResource("file:///notes", { mcpServer: "s" });
  assertEquals(contents[0]?.text, "my notes");
});

Deno.test("a window is read in the spelling that its server lists", async () => {
  const listed = "window://Host/a%62?priority=80&fullscreen=true";
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: listed }], contents: { [listed]: "found" } } }),
  );
  assertEquals((await office.laptop.readResource("window://host/ab")).contents[0]?.text, "found");
  assertEquals(await office.laptop.getDesktop({ window: "window://host/ab" }), [
    "window://Host/a%62\n\nfound",
  ]);
});

Deno.test("a server that does not exist is 4014, one without resources 4015", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ tools: {} }));
  for (
    const ask of [
      (name: string) => office.laptop.readResource("file:///x", { mcpServer: name }),
      (name: string) => office.laptop.getResources(name),
    ]
  ) {
    const missing = await refusal(ask("none"));
    assertEquals([missing.code, missing.details], [4014, { mcp_server: "none" }]);
    const incapable = await refusal(ask("tools"));
    assertEquals([incapable.code, incapable.details], [4015, {
      mcp_server: "tools",
      capability: "resources",
    }]);
  }
});

Deno.test("a server that does not answer in time is 408 and named, and the Server's own time is not up", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { ...documents, hang: [`resources/read ${REPORT}/pages/0`] } }),
  );
  const error = await refusal(office.laptop.readResource(`${REPORT}/pages/0`, { timeoutMs: 1_000 }));
  assertEquals([error.code, error.details], [408, { mcp_server: "s" }]);
});

// proves: mcp-error-internal
Deno.test("any other error of a server is 500 with its code", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { ...documents, contents: { [`${REPORT}/pages/0`]: rpcError(-32603) } } }),
  );
  const error = await refusal(office.laptop.readResource(`${REPORT}/pages/0`));
  assertEquals([error.code, error.details], [500, { mcp_server: "s", code: -32603 }]);
});

Deno.test("a read from a server that is not running is 500 with its state, at once", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      off: scripted({ resources: [] }, { disabled: true }),
      bad: scripted({ exitAtStart: true }),
    },
  });
  await office.log.until(stateOf("bad", "retrying"));
  const off = await refusal(
    office.laptop.readResource("file:///x", { mcpServer: "off", timeoutMs: 600_000 }),
  );
  assertEquals([off.code, off.details], [500, { mcp_server: "off", state: "stopped" }]);
  const bad = await refusal(office.laptop.getResources("bad", { timeoutMs: 600_000 }));
  assertEquals([bad.code, bad.details?.["mcp_server"]], [500, "bad"]);
});

// proves: mcp-schemes
Deno.test("resources of any scheme are listed and read, from the server that is named", async () => {
  const uris = ["https://example.com/a", "file:///home/ada/notes.txt", "git://repo/main", "x-notes:1"];
  const contents = Object.fromEntries(uris.map((uri) => [uri, `text of ${uri}`]));
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: uris.map((uri) => ({ uri })), contents } }),
  );
  const { laptop } = office;
  assertEquals((await laptop.getResources("s")).resources.map(({ uri }) => uri), uris);
  for (const uri of uris) {
    const read = await laptop.readResource(uri, { mcpServer: "s" });
    assertEquals(read.contents, [{ uri, mimeType: "text/plain", text: `text of ${uri}` }]);
  }
});

// proves: mcp-encode-binary
Deno.test("binary content that is not base64 is passed on as it came, with a warning", async () => {
  const uri = "window://s/a";
  const contents = { [uri]: [{ uri, blob: "AAEC" }, { uri, blob: "not base64" }] };
  await using office = await ComputerOffice.open(scriptedServers({ s: { resources: [{ uri }], contents } }));
  const read = await office.laptop.readResource(uri);
  assertEquals(read.contents.map(({ blob }) => blob), ["AAEC", "not base64"]);
  const warnings = office.log.of("warn").filter(({ message }) => message.includes("not base64"));
  assertEquals(warnings.map(({ fields }) => [fields["server"], fields["uri"]]), [["s", uri]]);
});

// proves: mcp-resource
Deno.test("get_resources gives one unfiltered page after the other, spelled for this wire", async () => {
  const resources = [
    {
      uri: "file:///a",
      name: "a",
      title: "A",
      icons: [{ src: "https://example.com/a.png", sizes: ["48x48"] }, null],
      mimeType: "text/plain",
      size: 3,
      annotations: { priority: 0.5 },
      extra: 1,
    },
    { uri: "window://w/b", name: null, title: 7, icons: "x", description: null, _meta: { fullscreen: true } },
    { uri: "dpe://d/c" },
  ];
  await using office = await ComputerOffice.open(scriptedServers({ s: { resources, pageSize: 2 } }));
  const first = await office.laptop.getResources("s");
  assertEquals(first.resources, [
    {
      uri: "file:///a",
      name: "a",
      title: "A",
      icons: [{ src: "https://example.com/a.png", sizes: ["48x48"] }],
      mime_type: "text/plain",
      size: 3,
      annotations: { priority: 0.5 },
      extra: 1,
    },
    { uri: "window://w/b", _meta: { fullscreen: true } },
  ] as unknown);
  assertEquals(first.nextCursor, "2");
  const second = await office.laptop.getResources("s", { cursor: "2" });
  assertEquals(second, { resources: [{ uri: "dpe://d/c" }] });
});

// proves: desktop-host-conflict, dpe-host-owner
Deno.test("a host that several servers claim is a warning that names all of them, and again when others claim it", async () => {
  const claim = (contents: Record<string, string>) => ({
    resources: Object.keys(contents).filter((uri) => !uri.includes("/pages/")).map((uri) => ({ uri })),
    contents,
  });
  const page = "dpe://same/both/pages/0";
  const servers = scriptedServers({
    first: claim({
      "window://same/a": "from first",
      "dpe://same/both": "first's",
      [page]: "page of first",
      "dpe://same/unlisted/pages/0": "page of first",
    }),
    second: claim({
      "window://same/b": "from second",
      "dpe://same/both": "second's",
      [page]: "page of second",
    }),
    third: claim({ "dpe://same/doc": "third", "dpe://same/doc/pages/0": "page of third" }),
  }).servers;
  await using office = await ComputerOffice.open({ servers });
  const told = (...names: readonly string[]) =>
    office.log.until(({ message, fields }) =>
      message.startsWith("several MCP servers claim") &&
      JSON.stringify(fields["servers"]) === JSON.stringify(names)
    );
  await office.laptop.getDesktop();
  assertEquals((await told("first", "second", "third")).fields["owner"], "first");
  for (
    const [uri, text] of [
      ["window://same/a", "from first"],
      ["window://same/b", "from second"],
      ["window://SAME/b?x=1", "from second"],
      ["dpe://same/doc", "third"],
      ["dpe://same/doc/pages/0", "page of third"],
      ["dpe://same/both", "first's"],
      ["dpe://same/both/pages/0", "page of first"],
      ["dpe://same/unlisted/pages/0", "page of first"],
    ] as const
  ) {
    assertEquals((await office.laptop.readResource(uri)).contents[0]?.text, text, uri);
  }
  for (const uri of ["dpe://same/both", "dpe://same/both/pages/0"]) {
    const read = await office.laptop.readResource(uri, { mcpServer: "second" });
    assertStringIncludes(read.contents[0]?.text ?? "", "second", uri);
  }
  const unlisted = await refusal(office.laptop.readResource("window://same/none"));
  assertEquals([unlisted.code, unlisted.details], [404, { uri: "window://same/none" }]);
  const { first: _, ...others } = servers;
  await office.computer.reconfigure({ servers: others });
  assertEquals((await told("second", "third")).fields, {
    host: "same",
    owner: "second",
    servers: ["second", "third"],
  });
  assertEquals((await office.laptop.readResource("window://same/b")).contents[0]?.text, "from second");
});

// proves: desktop-needs-subscribe, finder-needs-subscribe, dpe-host-owner
Deno.test("a server without subscriptions is not listed by itself, and has no host that another one has", async () => {
  const capabilities = { tools: {}, resources: { listChanged: true } };
  const [own, shared] = ["window://own/a", "window://same/a"];
  await using office = await ComputerOffice.open(
    scriptedServers({
      silent: {
        capabilities,
        resources: [{ uri: own }, { uri: shared }],
        contents: { [own]: "own", [shared]: "silent" },
      },
      told: { resources: [{ uri: shared }], contents: { [shared]: "told" } },
    }),
  );
  const lists = async () =>
    (await office.received()).filter(({ method }) => method === "resources/list").length;
  assertEquals(await office.laptop.getDesktop(), [`${shared}\n\ntold`]);
  assertEquals((await office.laptop.readResource(shared)).contents[0]?.text, "told");
  assertEquals(await lists(), 0);
  assertEquals((await office.laptop.readResource(own)).contents[0]?.text, "own");
  assertEquals(await lists(), 1);
  assertEquals(office.log.of("warn").filter(({ message }) => message.includes("claim")), []);
});
