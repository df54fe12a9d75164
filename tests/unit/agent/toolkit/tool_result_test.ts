import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { explainRead, failureResult, toMcpResult } from "../../../../src/agent/toolkit/tool_result.ts";
import type { McpToolResult } from "../../../../src/local_tools/mcp.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../../../src/link/errors.ts";
import type { CallToolResult } from "../../../../src/protocol/tools.ts";

const place = {
  computer: "desk",
  mcpServer: "files",
  toClientUri: (uri: string, { mcpServer }: { mcpServer: string | undefined }) =>
    `a2c://desk/${mcpServer}/${uri}`,
};
const textOf = ({ content }: McpToolResult) => content.map((item) => item["text"]).join("\n");

Deno.test("toMcpResult() keeps every kind of content, structured content and the metadata of the MCP server", () => {
  const content: CallToolResult["content"] = [
    { type: "text", text: "hello", annotations: { audience: ["user"] } },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
  ];
  const meta = { a2c_mcp_server: "forged", "example.com/kind": 1 };
  const result = toMcpResult({ content, structuredContent: { ok: true }, meta }, place);
  assertEquals<unknown>(result, {
    content,
    structuredContent: { ok: true },
    _meta: { ...meta, a2c_computer: "desk", a2c_mcp_server: "files" },
  });
});

Deno.test("toMcpResult() translates the URIs of links and embedded resources, and names a link that has no name", () => {
  const content: CallToolResult["content"] = [
    { type: "resource_link", uri: "file:///a" },
    { type: "resource", resource: { uri: "file:///b", text: "b" } },
  ];
  assertEquals(toMcpResult({ content, meta: { a2c_mcp_server: "forged" } }, place).content, [
    { type: "resource_link", uri: "a2c://desk/files/file:///a", name: "file:///a" },
    { type: "resource", resource: { uri: "a2c://desk/files/file:///b", text: "b" } },
  ]);
});

Deno.test("toMcpResult() shows content of a kind that MCP does not know as its JSON", () => {
  const item = { type: "hologram", data: "AAAA" };
  assertEquals(toMcpResult({ content: [{ type: "unknown", item }] }, place).content, [
    { type: "text", text: JSON.stringify(item) },
  ]);
});

Deno.test("toMcpResult() says what to do about a tool that needs confirmation, was switched off or is gone", () => {
  const refused = (error_code: number) =>
    toMcpResult({ content: [{ type: "text", text: "Refused" }], isError: true, meta: { error_code } }, place);
  assertMatch(textOf(refused(4001)), /^Refused\n.*list the tools again/i);
  assertMatch(textOf(refused(4002)), /^Refused\n.*switched the tool off/);
  assertMatch(textOf(refused(4004)), /^Refused\n.*may have run/);
  assertMatch(textOf(refused(4005)), /^Refused\n.*did not run\..*only when they ask for it/);
  const meta = { error_code: 4003, may_have_run: true };
  const died = toMcpResult({ content: [{ type: "text", text: "Died" }], isError: true, meta }, place);
  const notRunning = { error_code: 4003, a2c_reason: "not_running" } as const;
  const down = toMcpResult({ content: [], isError: true, meta: notRunning }, place);
  assertMatch(textOf(down), /did not run\. Try again/);
  assertMatch(textOf(died), /^Died\n.*may have run\. Check what it has done/);
  assertMatch(textOf(refused(1)), /^Refused\n.*may have run/);
  assertEquals(textOf(refused(4006)), "Refused");
});

Deno.test("toMcpResult() says of each failure that is not the tool's own whether the tool may have run", () => {
  const effect = (meta: CallToolResult["meta"]) =>
    toMcpResult({ content: [], isError: true, meta }, place)._meta?.["may_have_run"];
  assertEquals(
    [4001, 4002, 4005, 4006, 4007].map((error_code) => effect({ error_code })),
    Array(5).fill(false),
  );
  assertEquals([413, 4003, 4004].map((error_code) => effect({ error_code })), Array(3).fill(true));
  assertEquals(effect({ error_code: 4003, a2c_reason: "busy" }), false);
  assertEquals(effect({ error_code: 4003, a2c_reason: "not_running", may_have_run: true }), true);
  assertEquals([effect({ a2c_cancelled: true }), effect({ own: 1 })], [true, undefined]);
  assertEquals(effect({ a2c_cancelled: true, may_have_run: false }), false);
});

Deno.test("explainRead() says of an MCP server that will be back that the read may be made again", () => {
  const stopped = (state: string) =>
    explainRead(new SmcpError(500, "it does not run", { details: { state } }));
  for (const state of ["failed", "stopped"]) assertEquals(stopped(state), '"it does not run"');
  for (const state of ["starting", "retrying"]) {
    assertStringIncludes(stopped(state), "Try again in a few seconds");
  }
});

Deno.test("failureResult() tells a model whether the tool may have run, and what to do", () => {
  const fail = (error: unknown, code = error instanceof SmcpError ? error.code : 503) => {
    const { isError, _meta: meta, ...result } = failureResult(error, { name: "read", computer: "desk" });
    assertEquals([isError, meta?.["a2c_computer"]], [true, "desk"]);
    assertEquals(meta?.["may_have_run"], / may have run/.test(textOf(result)));
    assertEquals(meta?.["error_code"], code);
    return textOf(result);
  };
  assertMatch(fail(new ConnectionClosedError("gone")), /was lost during the call\. The tool may have run/);
  const closed = new ConnectionClosedError("closed", { isPermanent: true, isUnsent: true });
  assertMatch(fail(closed), /left the office\. The tool did not run/);
  const replaced = new SmcpError(404, "No peer", { details: { computer_name: "desk", replaced: true } });
  assertMatch(fail(replaced), /another machine has its name now\. List the tools again/);
  assertMatch(fail(new RequestTimeoutError("late"), 408), /no answer came in time\. The tool may have run/);
  const unsent = new RequestTimeoutError("no connection", { isUnsent: true });
  assertMatch(fail(unsent, 408), /cannot be reached now\. The tool did not run/);
  assertMatch(fail(new SmcpError(404, "No peer")), /not in the office now\. Call list_computers/);
  const late = new SmcpError(408, "No answer", { details: { may_have_run: true } });
  assertMatch(fail(late), /: "No answer"\. The tool may have run\./);
  assertMatch(
    fail(new Error("broken"), 500),
    /^Cannot call "read" on Computer "desk": "broken"\. The tool may have/,
  );
  assertMatch(
    fail(new RangeError("no such time"), 500),
    /^Cannot call "read" on Computer "desk": "no such time"$/,
  );
});

const RED_DOT = "iVBORw0KGgo+/w==";

/** Spellings of one picture. */
const SPELLINGS: Readonly<Record<string, string>> = {
  "a data URL": `data:image/png;base64,${RED_DOT}`,
  "a data URL with parameters": ` data:image/png;name=dot.png;charset=utf-8;base64, ${RED_DOT}`,
  "a data URL in capitals": `DATA:IMAGE/PNG;BASE64,${RED_DOT}`,
  "a data URL with percent signs": `data:image/png;base64,${encodeURIComponent(RED_DOT)}`,
  "the alphabet for URLs": RED_DOT.replaceAll("+", "-").replaceAll("/", "_"),
  "no padding": RED_DOT.replaceAll("=", ""),
  "lines": RED_DOT.replaceAll(/(.{4})/g, "$1\r\n"),
  "the alphabet for URLs, lines, no padding": " iVBORw0K\n\tGgo-_w ",
};

for (const [name, data] of Object.entries(SPELLINGS)) {
  Deno.test(`toMcpResult() writes Base64 as clients read it: ${name}`, () => {
    const caption = { type: "text", text: "a caption" } as const;
    const content: CallToolResult["content"] = [
      caption,
      { type: "image", data, mimeType: "image/png" },
      { type: "audio", data, mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///b", mimeType: "image/png", blob: data } },
    ];
    assertEquals<unknown>(toMcpResult({ content }, place).content, [
      caption,
      { type: "image", data: RED_DOT, mimeType: "image/png" },
      { type: "audio", data: RED_DOT, mimeType: "audio/wav" },
      {
        type: "resource",
        resource: { uri: "a2c://desk/files/file:///b", mimeType: "image/png", blob: RED_DOT },
      },
    ]);
  });
}

Deno.test("toMcpResult() takes the type of a picture from its data URL where the item has none", () => {
  const content = [
    { type: "image", data: SPELLINGS["a data URL"] },
    { type: "image", data: "data:image/svg+xml,%3Csvg/%3E" },
  ] as unknown as CallToolResult["content"];
  assertEquals<unknown>(toMcpResult({ content }, place).content, [
    { type: "image", data: RED_DOT, mimeType: "image/png" },
    { type: "image", data: btoa("<svg/>"), mimeType: "image/svg+xml" },
  ]);
});

Deno.test("toMcpResult() puts a text in the place of data that are no Base64, and keeps the others", () => {
  for (
    const data of ["%%%", "https://example.com/a.png", "a", "AAAA=AAA", "data:image/png;base64,%zz", "ä"]
  ) {
    const content: CallToolResult["content"] = [
      { type: "text", text: "a caption" },
      { type: "image", data, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///b", blob: data } },
    ];
    const [caption, picture, resource] = toMcpResult({ content }, place).content;
    assertEquals(caption, { type: "text", text: "a caption" });
    assertMatch(String(picture?.["text"]), /image\/png: cannot be shown/);
    assertMatch(JSON.stringify(resource), /file:\/\/\/b.*cannot be shown/);
  }
});
