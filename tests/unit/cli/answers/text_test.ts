import { assertEquals } from "@std/assert";
import {
  catalogueText,
  configText,
  contentsText,
  desktopText,
  resourceText,
  toolsText,
} from "../../../../src/cli/answers/text.ts";
import { parseGetComputerConfigRet } from "../../../../src/protocol/answers.ts";

Deno.test("toolsText() shows parameters and which may be left out", () => {
  const params_schema = {
    type: "object",
    properties: { message: { type: "string" }, times: { type: "integer" }, any: {} },
    required: ["message"],
  };
  assertEquals(
    toolsText([
      { name: "echo", description: "Says it\nagain", params_schema, return_schema: null },
      { name: "now", description: "", params_schema: {}, return_schema: null },
    ]),
    "echo(message: string, times?: integer, any?)\n    Says it\n    again\nnow()",
  );
  assertEquals(toolsText([]), "no tools");
});

Deno.test("configText() shows where each MCP server is and what it asks for", () => {
  const config = parseGetComputerConfigRet({
    servers: {
      files: { name: "files", type: "stdio", server_parameters: { command: "npx", args: ["files"] } },
      web: { name: "web", type: "sse", disabled: true, server_parameters: { url: "http://web/sse" } },
    },
    inputs: [{ id: "key", type: "promptString", description: "API key" }],
  });
  assertEquals(
    configText(config),
    "files  stdio  enabled   npx files\nweb    sse    disabled  http://web/sse\n\ninput key  promptString  API key",
  );
  assertEquals(configText({ servers: {} }), "no MCP servers");
});

Deno.test("desktopText() draws a line between windows", () => {
  assertEquals(desktopText([]), "no windows");
  assertEquals(desktopText(["window://a\n\nA", "window://b"]).split("\n").length, 7);
});

Deno.test("catalogueText() says which of how many documents these are", () => {
  const document = {
    doc_ref: "rpt",
    uri: "dpe://docs/rpt",
    file_uri: "file:///rpt.xlsx",
    file_type: "xlsx",
    title: "Report",
    page_count: 1,
    keywords: ["money", "year"],
    server: "docs",
  };
  assertEquals(
    catalogueText({ documents: [{ document }], totalCount: 12 }, { offset: 4 }),
    "Report (xlsx, 1 page)  [money, year]\n    dpe://docs/rpt\n5–5 of 12",
  );
  assertEquals(catalogueText({ documents: [], totalCount: 0 }, { offset: 0 }), "no documents");
  assertEquals(catalogueText({ documents: [], totalCount: 3 }, { offset: 9 }), "none of 3 documents");
});

Deno.test("contentsText() shows texts as they are and anything else by what it is", () => {
  const content = [
    { type: "text", text: "hello" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
    { type: "resource", resource: { uri: "file:///a", text: "inside" } },
    { type: "resource", resource: { uri: "file:///b", mimeType: "image/gif", blob: "AAA=" } },
    { type: "resource_link", uri: "file:///c" },
    { type: "new" },
  ];
  assertEquals(contentsText({ content }).split("\n"), [
    "hello",
    "[image: image/png, 3 bytes]",
    "inside",
    "[file:///b: image/gif, 2 bytes]",
    "[file:///c]",
    `{"type":"new"}`,
  ]);
  assertEquals(contentsText({ content: [], structuredContent: { a: 1 } }), `{\n  "a": 1\n}`);
  assertEquals(contentsText({ content: [] }), "");
});

Deno.test("resourceText() shows the rendering that was asked for, and anything else as it came", () => {
  const page = JSON.stringify({ page_index: 0, content_markdown: "# Title" });
  const plain = JSON.stringify({ element_id: "e", content_text: "text" });
  assertEquals(
    resourceText([{ text: page }, { text: plain }, { text: "hello" }, { text: '{"a":1}' }]),
    [
      "# Title",
      "text",
      "hello",
      '{"a":1}',
    ].join("\n"),
  );
});
