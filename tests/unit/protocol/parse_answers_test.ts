import { assertEquals } from "@std/assert";
import {
  parseCallToolResult,
  parseDpeDocument,
  parseDpeElement,
  parseDpePage,
  parseGetBlobRet,
  parseGetDeskTopRet,
  parseGetDpeRet,
  parseGetFinderRet,
  parseGetResourcesRet,
  parseGetToolsRet,
  parseListRoomRet,
  parseOfficeNotification,
  parseReadResourceRet,
} from "../../../src/protocol/parse.ts";
import { checkParser } from "./_accept.ts";

// proves: data-get-tools-ret, data-smcp-tool
Deno.test("GetToolsRet has tools and req_id, and SMCPTool its five members", () => {
  const tool = { name: "t", description: "d", params_schema: {}, return_schema: null, meta: { a: 1 } };
  checkParser(parseGetToolsRet, { tools: [tool], req_id: "r" }, [
    ["tools", undefined],
    ["tools", [{ ...tool, name: 1 }]],
    ["tools", [{ ...tool, params_schema: null }]],
    ["tools", [{ ...tool, meta: { nested: {} } }]],
    ["req_id", undefined],
  ]);
  const { tools: [loose] } = parseGetToolsRet({
    tools: [{ name: "t", description: null, params_schema: {} }],
    req_id: "r",
  });
  assertEquals([loose?.description, loose?.return_schema], ["", null]);
});

Deno.test("CallToolResult needs content, and its metadata may be spelled either way on both levels", () => {
  const item = { type: "text", text: "x" };
  checkParser(
    parseCallToolResult,
    { content: [{ ...item, _meta: { a: 1 } }], isError: true, meta: { b: 2 } },
    [
      ["content", undefined],
      ["content", "x"],
      ["content", [{ text: "no type" }]],
      ["isError", "yes"],
      ["meta", []],
    ],
  );
  const read = parseCallToolResult({
    content: [{ ...item, meta: { a: 1 } }],
    _meta: { b: 2 },
    isError: null,
  });
  assertEquals(read, { content: [{ ...item, _meta: { a: 1 } }], isError: false, meta: { b: 2 } });
  assertEquals(parseCallToolResult({ content: [], meta: null, structuredContent: null }).meta, undefined);
});

// proves: data-session-info, data-list-room-ret
Deno.test("ListRoomRet has sessions of sid, name, role and office_id", () => {
  const session = { sid: "s", name: "n", role: "agent", office_id: "lab" };
  checkParser(parseListRoomRet, { sessions: [session, { ...session, a2c_version: "0.2.0" }], req_id: "r" }, [
    ["sessions", undefined],
    ["sessions", [{ ...session, role: "x" }]],
    ["sessions", [{ ...session, sid: undefined }]],
    ["req_id", undefined],
  ]);
  assertEquals(parseListRoomRet({ sessions: [{ ...session, a2c_version: null }], req_id: "r" }).sessions, [
    session,
  ] as unknown);
});

Deno.test("a notification of coming or going has office_id and a name that may be null", () => {
  checkParser(parseOfficeNotification, { office_id: "lab", computer: null, agent: "a" }, [
    ["office_id", undefined],
    ["agent", 1],
  ]);
});

// proves: data-desktop-ret, data-finder-ret
Deno.test("GetDeskTopRet has desktops and GetFinderRet documents and total_count, each with req_id", () => {
  checkParser(parseGetDeskTopRet, { desktops: ["window://w"], req_id: "r" }, [["desktops", [1]], [
    "req_id",
    1,
  ]]);
  const document = {
    doc_ref: "d",
    uri: "u",
    file_uri: "f",
    file_type: "t",
    title: "t",
    page_count: 0,
    server: "s",
  };
  checkParser(parseGetFinderRet, { documents: [document], total_count: 1, req_id: "r" }, [
    ["documents", [{ ...document, server: undefined }]],
    ["total_count", -1],
  ]);
});

// proves: data-dpe-document, data-dpe-page, data-dpe-element
Deno.test("a document, a page and an element need what they cannot do without and drop what is of a wrong type", () => {
  const document = { doc_ref: "d", uri: "u", file_uri: "f", file_type: "t", title: "t", page_count: 2 };
  const summary = { page_index: 0, title: "p", element_count: 1, uri: "u/pages/0" };
  checkParser(parseDpeDocument, { ...document, pages: [summary], page_offset: 0 }, [
    ["doc_ref", ""],
    ["title", undefined],
    ["page_count", -1],
  ]);
  assertEquals(parseDpeDocument({ ...document, pages: [{ page_index: -1 }] }).pages, undefined);
  const element = { element_id: "e", category: "text", content: { text: "x" } };
  checkParser(parseDpeElement, { ...element, metadata: {} }, [["element_id", undefined], ["content", "x"], [
    "category",
    1,
  ]]);
  checkParser(parseDpePage, { page_index: 0, title: "p", elements: [element] }, [
    ["page_index", 1.5],
    ["elements", undefined],
    ["elements", [{}]],
  ]);
});

Deno.test("ReadResourceResult and GetResourcesRet are lists of things with a URI", () => {
  checkParser(parseReadResourceRet, {
    contents: [{ uri: "u", text: "x" }, { uri: "u", blob: "" }],
    req_id: "r",
  }, [
    ["contents", undefined],
    ["contents", [{ text: "x" }]],
    ["contents", [{ uri: "u", text: 1 }]],
  ]);
  checkParser(parseGetResourcesRet, { resources: [{ uri: "u", size: 1 }], next_cursor: "c" }, [
    ["resources", undefined],
    ["resources", [{}]],
    ["next_cursor", 1],
  ]);
  assertEquals(
    parseReadResourceRet({ contents: [{ uri: "u", text: "x", mimeType: null }] }).contents[0]?.mimeType,
    undefined,
  );
});

Deno.test("GetDpeRet has an address, and GetBlobRet a chunk and what it is a chunk of", () => {
  const resource = { uri: "https://x", mime_type: "m", size: 1, etag: "e" };
  checkParser(parseGetDpeRet, { resource, req_id: "r" }, [["resource", {}], ["resource", null], [
    "req_id",
    undefined,
  ]]);
  const chunk = { blob_handle: "h", total_size: 1, sha256: "s", chunk_offset: 0, eof: true, blob: "AA==" };
  checkParser(parseGetBlobRet, chunk, [["total_size", -1], ["eof", 1], ["blob", undefined], [
    "chunk_offset",
    0.5,
  ]]);
});
