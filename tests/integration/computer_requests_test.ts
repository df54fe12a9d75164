import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

const REPORT = "dpe://docs/report";
const METADATA = {
  doc_ref: "report",
  uri: REPORT,
  file_uri: "file:///report.md",
  file_type: "md",
  title: "Report",
  page_count: 1,
};

async function refusal(request: Promise<unknown>): Promise<SmcpError> {
  return await assertRejects(() => request, SmcpError);
}

/** Sends what no Agent of ours would. */
async function rawRefusal(
  office: ComputerOffice,
  event: string,
  body: Record<string, unknown>,
): Promise<unknown[]> {
  const { code, details } = await refusal(office.agent.request(event, { computer: "laptop", ...body }));
  return [code, details];
}

Deno.test("an event that the Computer does not serve is answered 400 at once", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const answer = await rawRefusal(office, "client:make_coffee", { timeout: 600 });
  assertEquals(answer, [400, { field: "event" }]);
});

Deno.test("a malformed request is answered 400 and names the field", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const cases = [
    ["client:tool_call", { tool_name: "x" }, "params"],
    ["client:tool_call", { tool_name: 7, params: {} }, "tool_name"],
    ["client:tool_call", { tool_name: "x", params: [] }, "params"],
    ["client:get_desktop", { desktop_size: "all" }, "desktop_size"],
    ["client:get_desktop", { window: "https://x" }, "window"],
    ["client:get_finder", { keywords: "report" }, "keywords"],
    ["client:get_finder", { offset: -1 }, "offset"],
    ["client:get_finder", { limit: 1.5 }, "limit"],
    ["client:read_resource", {}, "uri"],
    ["client:get_resources", {}, "mcp_server"],
    ["client:get_dpe", { uri: null }, "uri"],
  ] as const;
  for (const [event, body, field] of cases) {
    assertEquals(await rawRefusal(office, event, body), [400, { field }], `${event} ${JSON.stringify(body)}`);
  }
});

// proves: desktop-aggregate, finder-aggregate, data-desktop-size, data-desktop-window, finder-no-builtin-tools
Deno.test("windows and documents of all servers are one Desktop and one Finder, last used server first", async () => {
  const scripts = (name: string) => ({
    tools: [{ name: `use_${name}`, inputSchema: { type: "object" } }],
    resources: [{ uri: `window://${name}/w` }, { uri: `dpe://${name}/d` }],
    contents: {
      [`window://${name}/w`]: name,
      [`dpe://${name}/d`]: { ...METADATA, doc_ref: "d", uri: `dpe://${name}/d`, title: name },
    },
  });
  await using office = await ComputerOffice.open(
    scriptedServers({ b: scripts("b"), a: scripts("a"), c: scripts("c") }),
  );
  const desktop = async (options = {}) =>
    (await office.laptop.getDesktop(options)).map((text) => text.at(-1));
  const finder = async (options = {}) =>
    (await office.laptop.getFinder(options)).documents.map(({ title }) => title);
  assertEquals([await desktop(), await finder()], [["a", "b", "c"], ["a", "b", "c"]]);
  await office.laptop.callTool("use_c");
  await office.laptop.callTool("use_b");
  assertEquals([await desktop(), await finder()], [["b", "c", "a"], ["b", "c", "a"]]);
  assertEquals(await desktop({ size: 2 }), ["b", "c"]);
  assertEquals(await desktop({ size: 0 }), []);
  assertEquals(await desktop({ window: "window://A/w/?x=1" }), ["a"]);
  assertEquals(await desktop({ window: "window://a/none" }), []);
  assertEquals(await finder({ offset: 1, limit: 1 }), ["c"]);
  const names = (await office.laptop.getTools()).map(({ name }) => name);
  assertEquals(names.filter((name) => !/^(use_|.*become|.*received)/.test(name)), []);
});

// proves: guide-collect-level-1, guide-collect-server, data-dpe-document
Deno.test("a document's summary is its Level 1 metadata, names its server, and has no page index", async () => {
  const metadata = {
    ...METADATA,
    keywords: ["a"],
    summary: "s",
    last_modified: "2026-01-01T00:00:00Z",
    extra: 1,
  };
  const listing = { ...metadata, pages: [], page_offset: 0, page_limit: 20, page_total: 1 };
  await using office = await ComputerOffice.open(
    scriptedServers({ docs: { resources: [{ uri: REPORT }], contents: { [REPORT]: listing } } }),
  );
  const { documents } = await office.laptop.getFinder();
  assertEquals(documents, [{ ...metadata, server: "docs" }]);
});

// proves: guide-test-e2e-filters, guide-get-finder-req-id, finder-complete-optional
Deno.test("keywords, file type, offset and limit take effect across all roles", async () => {
  const texts = Array.from({ length: 5 }, (_, i) => ({
    ...METADATA,
    doc_ref: `d${i}`,
    uri: `dpe://docs/d${i}`,
    title: `Report ${i}`,
    file_type: i % 2 === 0 ? "pdf" : "md",
  }));
  await using office = await ComputerOffice.open(
    scriptedServers({
      docs: {
        resources: texts.map(({ uri }) => ({ uri })),
        contents: Object.fromEntries(texts.map((text) => [text.uri, text])),
      },
    }),
  );
  const find = async (options: Parameters<typeof office.laptop.getFinder>[0]) => {
    const { documents, totalCount } = await office.laptop.getFinder(options);
    return [documents.map(({ doc_ref }) => doc_ref), totalCount];
  };
  assertEquals(await find({ keywords: ["report 3", "REPORT 4"] }), [["d3", "d4"], 2]);
  assertEquals(await find({ fileType: "pdf" }), [["d0", "d2", "d4"], 3]);
  assertEquals(await find({ fileType: "pdf", offset: 1, limit: 1 }), [["d2"], 3]);
  assertEquals(await find({ limit: 0 }), [[], 5]);
  const raw = await office.agent.request("client:get_finder", {
    computer: "laptop",
    req_id: "mine",
    limit: 0,
  });
  assertEquals(raw, { documents: [], total_count: 5, req_id: "mine" });
});

Deno.test("a document whose metadata cannot be read costs no other document", async () => {
  const uris = ["dpe://docs/report", "dpe://docs/text", "dpe://docs/poor", "dpe://docs/gone"];
  await using office = await ComputerOffice.open(
    scriptedServers({
      docs: {
        resources: [...uris.map((uri) => ({ uri })), { uri: "dpe://docs" }, { uri: `${REPORT}/pages/0` }],
        contents: { [REPORT]: METADATA, "dpe://docs/text": "no JSON", "dpe://docs/poor": { title: "poor" } },
      },
    }),
  );
  const { documents, totalCount } = await office.laptop.getFinder();
  assertEquals([documents.map(({ doc_ref }) => doc_ref), totalCount], [["report"], 1]);
  const warned = office.log.of("warn").map(({ fields }) => fields["uri"]);
  for (const uri of uris.slice(1)) assert(warned.includes(uri), uri);
});

// proves: data-get-config-ret
Deno.test("get_config shows placeholders as written and masks every secret", async () => {
  const server = scripted({}, { forbidden_tools: ["rm"] });
  const parameters = server["server_parameters"] as Record<string, unknown>;
  const config = {
    servers: {
      s: {
        ...server,
        server_parameters: { ...parameters, env: { API_KEY: "sk-123", MIX: "a${input:key}b" } },
      },
      web: {
        type: "streamable",
        disabled: true,
        server_parameters: {
          url: "https://user:pw@host/mcp?key=sk-456&v=${input:key}#sk-789",
          headers: { Authorization: "Bearer sk-abc" },
          oauth: { client_secret: "sk-def" },
        },
      },
    },
    inputs: [
      { id: "key", type: "promptString", description: "the key", default: "sk-ghi", password: true },
      { id: "cmd", type: "command", description: "", command: "echo sk-jkl", args: { x: "sk-mno" } },
    ],
  };
  await using office = await ComputerOffice.open(config, { inputs: () => "sk-resolved" });
  const shown = await office.laptop.getConfig();
  assertEquals(JSON.stringify(shown).match(/sk-\w+/g), null);
  assertEquals(Object.keys(shown.servers), ["s", "web"]);
  const { web } = shown.servers;
  assertEquals(web, {
    name: "web",
    disabled: true,
    forbidden_tools: [],
    tool_meta: {},
    default_tool_meta: null,
    vrl: null,
    type: "streamable",
    server_parameters: {
      url: "https://***@host/***${input:key}***",
      headers: { Authorization: "***" },
      timeout: "PT30S",
      sse_read_timeout: "PT5M",
      terminate_on_close: true,
    },
  });
});

Deno.test("get_dpe without a resolver is 4011", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const error = await refusal(office.laptop.getDpe(REPORT));
  assertEquals([error.code, error.details], [4011, { uri: REPORT }]);
});

// proves: dpe-get-host, dpe-host-owner
Deno.test("get_dpe answers what the resolver gives, which may read through the Computer from the host's server", async () => {
  const other = { ...METADATA, file_uri: "file:///other.md" };
  await using office = await ComputerOffice.open(
    scriptedServers({
      other: { resources: [{ uri: "dpe://other/report" }], contents: { [REPORT]: other } },
      docs: { resources: [{ uri: REPORT }], contents: { [REPORT]: METADATA } },
    }),
    {
      async resolveDpe(uri, { read }) {
        const { contents } = await read(uri);
        const { file_uri } = JSON.parse(contents[0]?.text ?? "{}");
        return { uri: `https://files/${file_uri}`, mime_type: "text/markdown", size: 7, etag: "e" };
      },
    },
  );
  assertEquals(await office.laptop.getDpe(REPORT), {
    uri: "https://files/file:///report.md",
    mime_type: "text/markdown",
    size: 7,
    etag: "e",
  });
});

Deno.test("get_dpe for an invalid URI is 4012, and a resolver that fails or is out of time 4013", async () => {
  await using office = await ComputerOffice.open({ servers: {} }, {
    resolveDpe: (uri) => {
      if (uri.endsWith("hang")) return new Promise(() => {});
      throw new TypeError("secret path /etc/x");
    },
  });
  const invalid = await refusal(office.laptop.getDpe("https://x"));
  assertEquals([invalid.code, invalid.details], [4012, { uri: "https://x" }]);
  const failed = await refusal(office.laptop.getDpe(REPORT));
  assertEquals([failed.code, failed.details], [4013, { uri: REPORT, reason: "the resolver failed" }]);
  const late = await refusal(office.laptop.getDpe("dpe://docs/hang", { timeoutMs: 1_000 }));
  assertEquals([late.code, late.details], [4013, { uri: "dpe://docs/hang", reason: "timeout" }]);
});

Deno.test("a window over the Server's limit is left out of the Desktop, and the connection lives on", async () => {
  const big = "x*200000";
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri: "window://s/big" }], contents: { "window://s/big": big } } }),
    { server: { maxPayloadBytes: 100_000 } },
  );
  assertEquals(await office.laptop.getDesktop(), []);
  assertEquals((await office.laptop.callTool("received")).isError, false);
});

// proves: guide-error-logged
Deno.test("every failure is logged with its req_id", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  await refusal(office.agent.request("client:read_resource", { computer: "laptop", uri: "dpe://" }));
  const { fields } = await office.log.until(({ message }) => message === "request failed");
  assertEquals([fields["event"], fields["code"]], ["client:read_resource", 4204]);
  assert(typeof fields["req_id"] === "string" && fields["req_id"].length > 0);
});

Deno.test("the log of a failed read names the document, the URI and the MCP server", async () => {
  const uri = "dpe://docs/rpt";
  const failure = { error: { code: -32603, message: "disk full" } };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { resources: [{ uri }], answers: { [`resources/read ${uri}`]: failure } } }),
  );
  await refusal(office.laptop.readResource(uri));
  await refusal(office.laptop.readResource("dpe://dosc/rpt"));
  const failed = await office.log.until(({ message, fields }) =>
    message === "request failed" && fields["code"] === 500
  );
  assertEquals([failed.fields["uri"], failed.fields["mcp_server"]], [uri, "s"]);
  const lost = await office.log.until(({ message, fields }) =>
    message === "request failed" && fields["code"] === 4201
  );
  assertEquals(lost.fields["uri"], "dpe://dosc/rpt");
  assertStringIncludes(String(lost.fields["error"]), 'Document "rpt" not found');
});

Deno.test("an MCP server's error that repeats a secret tells it to neither the log nor the Agent", async () => {
  const W = "window://host/w";
  const failure = { error: { code: -32000, message: "the key s3cret-value is wrong" } };
  const config = scripted({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    resources: [{ uri: W }],
    answers: { "tools/call t": failure, [`resources/read ${W}`]: failure },
  });
  const parameters = config["server_parameters"] as Record<string, unknown>;
  await using office = await ComputerOffice.open({
    servers: { s: { ...config, server_parameters: { ...parameters, env: { KEY: "${input:key}" } } } },
    inputs: [{ id: "key", type: "promptString", default: "s3cret-value" }],
  });
  const { content } = await office.laptop.callTool("t");
  assertStringIncludes(content[0]?.text ?? "", "the key *** is wrong");
  await assertRejects(() => office.laptop.readResource(W), SmcpError, "the key *** is wrong");
  assert(!JSON.stringify(office.log.lines).includes("s3cret"));
});
