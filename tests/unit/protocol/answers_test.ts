import { assertEquals, assertThrows } from "@std/assert";
import {
  parseGetBlobRet,
  parseGetComputerConfigRet,
  parseGetDeskTopRet,
  parseGetDpeRet,
  parseGetFinderRet,
  parseGetResourcesRet,
  parseGetResourceTemplatesRet,
  parseGetToolsRet,
  parseReadResourceRet,
} from "../../../src/protocol/answers.ts";
import { parseDpeDocument, parseDpeElement, parseDpePage } from "../../../src/protocol/dpe_answers.ts";
import { parseListRoomRet } from "../../../src/protocol/office_answers.ts";
import { fromErrorAck, SmcpError } from "../../../src/protocol/errors.ts";
import type { AnswerReader } from "../../../src/protocol/flaws.ts";
import { parseOfficeNotification } from "../../../src/protocol/office_requests.ts";
import * as tools from "../../../src/protocol/schemas/answers.ts";
import { checkParser } from "./_accept.ts";

/** What is read of an answer, and the places where it had flaws. */
function read<T>(parse: AnswerReader<T>, answer: unknown): { value: T; flaws: string[] } {
  const flaws: string[] = [];
  const value = parse(answer, (field) => void flaws.push(field));
  return { value, flaws };
}

/** An answer without which there is nothing to go on with. */
function assertNoAnswer(parse: AnswerReader<unknown>, answers: readonly unknown[]): void {
  for (const answer of answers) {
    assertEquals(assertThrows(() => parse(answer), SmcpError).code, 400);
  }
}

const tool = { name: "t", description: "d", params_schema: {}, return_schema: null, meta: { a: 1 } };

// proves: data-get-tools-ret, data-smcp-tool
Deno.test("GetToolsRet has tools and req_id, and SMCPTool its five members", () => {
  checkParser(parseGetToolsRet, { tools: [tool], req_id: "r" }, [["tools", "x"]]);
  assertNoAnswer(parseGetToolsRet, [{}, { req_id: "r" }]);
  assertEquals(parseGetToolsRet({ tools: null, req_id: "r" }).tools, []);
  const { tools: [loose] } = parseGetToolsRet({
    tools: [{ name: "t", description: null, params_schema: {} }],
    req_id: "r",
  });
  assertEquals([loose?.description, loose?.return_schema], ["", null]);
});

Deno.test("a tool without a name costs itself, and what is wrong beside the name costs only that", () => {
  const { value, flaws } = read(parseGetToolsRet, {
    tools: [
      tool,
      { ...tool, name: 1 },
      "x",
      {
        name: "u",
        description: 7,
        params_schema: null,
        return_schema: [],
        meta: { nested: { a: 1 }, list: [1, null], names: ["a"], no: null },
      },
    ],
  });
  assertEquals(value.tools, [
    tool,
    {
      name: "u",
      description: "",
      params_schema: { type: "object" },
      return_schema: null,
      meta: { nested: '{"a":1}', list: "[1,null]", names: ["a"], no: null },
    },
  ]);
  assertEquals([value.req_id, flaws], ["", ["tools.1", "tools.2", "tools.3"]]);
});

// proves: data-session-info, data-list-room-ret
Deno.test("ListRoomRet has sessions of sid, name, role and office_id", () => {
  const session = { sid: "s", name: "n", role: "agent" as const, office_id: "lab" };
  checkParser(parseListRoomRet, { sessions: [session, { ...session, a2c_version: "0.2.0" }], req_id: "r" }, [
    ["sessions", 1],
  ]);
  assertEquals(
    read(parseListRoomRet, { sessions: [{ ...session, a2c_version: null }, { ...session, role: "x" }, {}] }),
    { value: { sessions: [session], req_id: "" }, flaws: ["sessions.1", "sessions.2"] },
  );
});

Deno.test("a notification of coming or going has office_id and a name that may be null", () => {
  checkParser(parseOfficeNotification, { office_id: "lab", computer: null, agent: "a" }, [
    ["office_id", undefined],
    ["agent", 1],
  ]);
});

const summary = {
  doc_ref: "d",
  uri: "u",
  file_uri: "f",
  file_type: "t",
  title: "t",
  page_count: 0,
  server: "s",
};

// proves: data-desktop-ret, data-finder-ret
Deno.test("GetDeskTopRet has desktops and GetFinderRet documents and total_count, each with req_id", () => {
  checkParser(parseGetDeskTopRet, { desktops: ["window://w"], req_id: "r" }, [["desktops", 1]]);
  checkParser(parseGetFinderRet, { documents: [summary], total_count: 1, req_id: "r" }, [["documents", 1]]);
});

Deno.test("a window that is no text and a document without its fields cost themselves", () => {
  assertEquals(read(parseGetDeskTopRet, { desktops: ["window://w", null, 1] }), {
    value: { desktops: ["window://w"] },
    flaws: ["desktops.1", "desktops.2"],
  });
  const documents = [{ ...summary, server: undefined }, { ...summary, summary: null, keywords: "x" }];
  assertEquals(read(parseGetFinderRet, { documents, total_count: -1 }), {
    value: { documents: [{ ...summary, summary: undefined, keywords: undefined }] },
    flaws: ["documents.0", "total_count"],
  });
});

const document = { doc_ref: "d", uri: "u", file_uri: "f", file_type: "t", title: "t", page_count: 2 };
const pageSummary = { page_index: 0, title: "p", element_count: 1, uri: "u/pages/0" };
const element = { element_id: "e", category: "text", content: { text: "x" } };

// proves: data-dpe-document, data-dpe-page, data-dpe-element
Deno.test("a document, a page and an element need what they cannot do without and drop what is of a wrong type", () => {
  checkParser(parseDpeDocument, { ...document, pages: [pageSummary], page_offset: 0 }, [
    ["doc_ref", ""],
    ["title", undefined],
    ["page_count", -1],
  ]);
  assertEquals(parseDpeDocument({ ...document, pages: 1 }).pages, undefined);
  checkParser(parseDpeElement, { ...element, metadata: {} }, [["element_id", undefined], ["content", "x"], [
    "category",
    1,
  ]]);
  checkParser(parseDpePage, { page_index: 0, title: "p", elements: [element] }, [
    ["page_index", 1.5],
    ["elements", undefined],
  ]);
});

Deno.test("one page of an index and one element of a page cost themselves", () => {
  const index = read(parseDpeDocument, { ...document, pages: [{ page_index: -1 }, pageSummary] });
  assertEquals([index.value.pages, index.flaws], [[pageSummary], ["pages.0"]]);
  const page = read(parseDpePage, {
    page_index: 0,
    title: null,
    elements: [{ ...element, content: "x" }, element],
  });
  assertEquals(page, {
    value: { page_index: 0, title: "", elements: [element] },
    flaws: ["title", "elements.0"],
  });
});

Deno.test("ReadResourceResult and GetResourcesRet are lists of things with a URI", () => {
  checkParser(parseReadResourceRet, {
    contents: [{ uri: "u", text: "x" }, { uri: "u", blob: "" }],
    req_id: "r",
  }, [["contents", "x"]]);
  checkParser(parseGetResourcesRet, { resources: [{ uri: "u", size: 1 }], next_cursor: "c" }, [
    ["resources", undefined],
  ]);
  assertEquals(
    parseReadResourceRet({ contents: [{ uri: "u", text: "x", mimeType: null, _meta: null }] }).contents,
    [{ uri: "u", text: "x" }],
  );
});

Deno.test("what is wrong with a piece or an entry of a list of resources costs that alone", () => {
  assertEquals(
    read(parseReadResourceRet, { contents: ["x", { text: "a", mimeType: 1 }, { uri: "u", text: 1 }] }),
    {
      value: { contents: [{ uri: "", text: "a" }, { uri: "u" }] },
      flaws: ["contents.0", "contents.1", "contents.2"],
    },
  );
  assertEquals(read(parseGetResourcesRet, { resources: [{}, { uri: "u", name: null }], next_cursor: 1 }), {
    value: { resources: [{ uri: "u" }] },
    flaws: ["resources.0", "next_cursor"],
  });
});

Deno.test("annotations say lastModified, also when a peer spells it last_modified", () => {
  const [mcp, sdk, both] = ["lastModified", "last_modified"].map((key) => ({ [key]: "2026-01-15T08:30:00Z" }))
    .concat({ lastModified: "2026-01-15T08:30:00Z", last_modified: "2020-01-01T00:00:00Z" })
    .map((annotations) => ({ uri: "u", uri_template: "u", annotations: { priority: 0.5, ...annotations } }));
  const expected = { priority: 0.5, lastModified: "2026-01-15T08:30:00Z" };
  const { value } = read(parseGetResourcesRet, { resources: [mcp, sdk, both] });
  assertEquals(value.resources.map(({ annotations }) => annotations), [expected, expected, expected]);
  const templates = read(parseGetResourceTemplatesRet, { resource_templates: [sdk] }).value;
  assertEquals(templates.resource_templates[0]?.annotations, expected);
});

Deno.test("a configuration is read of a peer that leaves names out and writes null for what has its default", () => {
  const { value, flaws } = read(parseGetComputerConfigRet, {
    servers: {
      echo: { type: "stdio", server_parameters: { command: "run" } },
      web: { type: "sse", tool_meta: null, server_parameters: { url: "http://x", timeout: null } },
      odd: { type: "carrier pigeon" },
      none: null,
    },
    inputs: [{ type: "promptString", id: "key" }, { type: "x" }],
  });
  assertEquals(Object.values(value.servers).map(({ name, tool_meta }) => [name, tool_meta]), [["echo", {}], [
    "web",
    {},
  ]]);
  assertEquals(value.inputs?.map(({ id }) => id), ["key"]);
  assertEquals(flaws, ["servers.web", "servers.odd", "servers.none", "inputs.1"]);
  assertNoAnswer(parseGetComputerConfigRet, [{}, { servers: [] }]);
});

Deno.test("a configuration is read of the Rust SDK, which names transports and inputs in its own way", () => {
  const server_parameters = { url: "http://x", headers: {} };
  const { value } = read(parseGetComputerConfigRet, {
    servers: {
      web: { type: "http", server_parameters },
      events: { type: "Sse", server_parameters },
      own: { type: "Stdio", server_parameters: { command: "run" } },
    },
    inputs: [{ type: "PromptString", id: "key" }, {
      type: "PickString",
      id: "pick",
      options: [{ label: "A", value: "a" }],
    }, { type: "Command", id: "date", command: "date" }],
  });
  assertEquals(Object.values(value.servers).map(({ type }) => type), ["streamable", "sse", "stdio"]);
  assertEquals(value.inputs?.map(({ type }) => type), ["promptString", "pickString", "command"]);
});

Deno.test("GetDpeRet has an address, and GetBlobRet a chunk and what it is a chunk of", () => {
  const resource = { uri: "https://x", mime_type: "m", size: 1, etag: "e" };
  checkParser(parseGetDpeRet, { resource, req_id: "r" }, [["resource", {}], ["resource", null]]);
  const chunk = { blob_handle: "h", total_size: 1, sha256: "s", chunk_offset: 0, eof: true, blob: "AA==" };
  checkParser(parseGetBlobRet, chunk, [["total_size", -1], ["eof", 1], ["blob", undefined], [
    "chunk_offset",
    0.5,
  ]]);
});

Deno.test("of metadata that is nested 100,000 times the first member is told, and all are kept as JSON", () => {
  const meta = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`m${index}`, { a: 1 }]));
  const tool = { name: "t", description: "", params_schema: {}, return_schema: null, meta };
  assertEquals(tools.smcpTool.safeParse(tool).error?.issues.map(({ path }) => path), [["meta", "m0"]]);
  const { value, flaws } = read(parseGetToolsRet, { tools: [tool], req_id: "r" });
  assertEquals([value.tools[0]?.meta?.["m99999"], flaws], ['{"a":1}', ["tools.0"]]);
});

Deno.test("fromErrorAck() finds what the reference Computer writes beside the code among the details", () => {
  const ack = { code: 4015, message: "No resources", mcp_server_name: "plain", capability: "resources" };
  assertEquals(fromErrorAck(ack)?.details, { mcp_server: "plain", capability: "resources" });
  assertEquals(fromErrorAck({ ...ack, capability: undefined })?.details, { mcp_server: "plain" });
  assertEquals(fromErrorAck({ ...ack, details: { mcp_server: "other" } })?.details, { mcp_server: "other" });
});

Deno.test("parseGetDeskTopRet() refuses an answer with nothing in it, which a Server made of an error", () => {
  assertThrows(() => parseGetDeskTopRet({}), SmcpError, "expected a list");
  assertThrows(() => parseGetDeskTopRet({ req_id: "r1" }), SmcpError, "expected a list");
  assertEquals(parseGetDeskTopRet({ desktops: [] }), { desktops: [] });
});
