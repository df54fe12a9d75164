import { assert, assertEquals, assertObjectMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { silentLogger } from "../../src/log.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";

const LIMIT_BYTES = 100_000;
const long = (length: number) => "x".repeat(length);

/** An office whose connections take 100,000 bytes, with a Computer of one MCP server `s`. */
function openOffice(
  script: { readonly answers?: Record<string, unknown>; readonly contents?: Record<string, unknown> },
  options: OfficeOptions = {},
): Promise<ComputerOffice> {
  const { answers = {}, contents = {} } = script;
  const tools = Object.keys(answers).map((name) => ({ name, inputSchema: { type: "object" } }));
  const calls = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [`tools/call ${name}`, answer]),
  );
  const resources = Object.keys(contents).map((uri) => ({ uri }));
  return ComputerOffice.open(scriptedServers({ s: { tools, answers: calls, resources, contents } }), {
    server: { maxPayloadBytes: LIMIT_BYTES },
    ...options,
  });
}

async function refusal(request: Promise<unknown>): Promise<SmcpError> {
  return await assertRejects(() => request, SmcpError);
}

Deno.test("a result that is too large for one message arrives whole and in order", async () => {
  const content = [
    { type: "text", text: "small", _meta: { a: 1 } },
    { type: "text", text: "x*200000", annotations: { audience: ["user"] }, _meta: { b: 1 } },
    { type: "image", data: "x*400000", mimeType: "image/png" },
    { type: "audio", data: "x*400", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///b", mimeType: "application/pdf", blob: "x*300000" } },
    { type: "resource", resource: { uri: "file:///t", text: "x*200000" }, _meta: { c: 1 } },
  ];
  await using office = await openOffice({
    answers: { big: { content, structuredContent: { rows: "x*150000" } } },
  });
  const { content: arrived, structuredContent, isError } = await office.laptop.callTool("big");
  assertEquals(isError, false);
  assertEquals(arrived, [
    { type: "text", text: "small", _meta: { a: 1 } },
    { type: "text", text: long(200_000), annotations: { audience: ["user"] }, _meta: { b: 1 } },
    { type: "image", data: long(400_000), mimeType: "image/png" },
    { type: "audio", data: long(400), mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///b", mimeType: "application/pdf", blob: long(300_000) } },
    { type: "resource", resource: { uri: "file:///t", text: long(200_000) }, _meta: { c: 1 } },
  ]);
  assertEquals(structuredContent, { rows: long(150_000) });
});

Deno.test("only the largest parts are left out, in the shape that other SDKs fetch", async () => {
  const answer = {
    content: [
      { type: "text", text: "x*50000" },
      { type: "image", data: "x*40000", mimeType: "image/png" },
      { type: "text", text: "x*120000" },
    ],
  };
  await using office = await openOffice({ answers: { big: answer } });
  const call = { computer: "laptop", tool_name: "big", params: {} };
  const raw = await office.agent.request("client:tool_call", call) as CallToolResult;
  assertObjectMatch(raw, {
    content: [
      { type: "text", text: long(50_000) },
      { type: "image", data: long(40_000) },
      {
        type: "resource",
        resource: { uri: "a2c-blob:///text", mimeType: "text/plain", blob: "" },
        _meta: { a2c_total_size: 120_000, a2c_text: true },
      },
    ],
  });
  const { a2c_blob_handle, a2c_sha256 } = raw.content[2]?._meta ?? {};
  const chunk = await office.agent.request("client:get_blob", {
    computer: "laptop",
    blob_handle: a2c_blob_handle,
    chunk_offset: 119_000,
  });
  const { req_id: _reqId, ...fields } = chunk as Record<string, unknown>;
  assertEquals(fields, {
    blob_handle: a2c_blob_handle,
    mime_type: "text/plain",
    total_size: 120_000,
    sha256: a2c_sha256,
    chunk_offset: 119_000,
    eof: true,
    blob: btoa(long(1_000)),
  });
});

Deno.test("a result of many small parts, or of large metadata, is fetched as a whole", async () => {
  const items = Array.from({ length: 2_500 }, (_, n) => ({ type: "text", text: `item ${n}` }));
  const answers = {
    many: { content: items, isError: true },
    labelled: { content: [], _meta: { label: "x*200000" } },
  };
  await using office = await openOffice({ answers });
  const many = await office.laptop.callTool("many");
  assertEquals([many.content, many.isError], [items, true] as unknown);
  const labelled = await office.laptop.callTool("labelled");
  assertEquals(labelled.meta?.["label"], long(200_000));
});

Deno.test("a read that is too large for one message arrives whole", async () => {
  const many = Array.from(
    { length: 1_500 },
    (_, n) => ({ uri: "window://s/many", text: `piece ${n} ${long(40)}` }),
  );
  const mixed = [
    { uri: "window://s/mixed", mimeType: "text/html", text: "x*200000", _meta: { a: 1 } },
    { uri: "window://s/mixed", blob: "x*200000" },
    { uri: "window://s/mixed", text: "small" },
  ];
  await using office = await openOffice({ contents: { "window://s/mixed": mixed, "window://s/many": many } });
  assertEquals((await office.laptop.readResource("window://s/mixed")).contents, [
    { uri: "window://s/mixed", mimeType: "text/html", text: long(200_000), _meta: { a: 1 } },
    { uri: "window://s/mixed", blob: long(200_000) },
    { uri: "window://s/mixed", text: "small" },
  ]);
  assertEquals((await office.laptop.readResource("window://s/many")).contents, many);
});

Deno.test("in a pause the rest of what was read is not given, and that of a call is", async () => {
  const uri = "window://s/big";
  await using office = await openOffice({
    answers: { big: { content: [{ type: "text", text: "x*150000" }] } },
    contents: { [uri]: "x*200000" },
  });
  const ask = (event: string, members: Record<string, unknown>) =>
    office.agent.request(event, { computer: "laptop", ...members });
  const answers = [
    await ask("client:read_resource", { uri }),
    await ask("client:tool_call", { tool_name: "big", params: {} }),
  ];
  const [ofRead, ofCall] = answers.map((answer) =>
    /"a2c_blob_handle":"([^"]+)"/.exec(JSON.stringify(answer))?.[1]
  );
  const { calls } = office.computer;
  calls.pause();
  const refused = await refusal(ask("client:get_blob", { blob_handle: ofRead }));
  assertEquals([refused.code, refused.details], [403, { state: "paused" }]);
  assertObjectMatch(Object(await ask("client:get_blob", { blob_handle: ofCall })), { total_size: 150_000 });
  calls.resume();
  assertObjectMatch(Object(await ask("client:get_blob", { blob_handle: ofRead })), { total_size: 200_000 });
});

Deno.test("what cannot be kept is said: the tool has run, and a read is 413", async () => {
  const uri = "window://s/big";
  await using office = await openOffice({
    answers: { big: { content: [{ type: "text", text: "x*200000" }] } },
    contents: { [uri]: "x*200000" },
  }, { limits: { maxBlobBytes: 150_000 } });
  const { isError, meta, content } = await office.laptop.callTool("big");
  assertEquals([isError, meta?.error_code], [true, 413]);
  assertStringIncludes(content[0]?.text ?? "", "The tool has run, but its result is lost");
  const error = await refusal(office.laptop.readResource(uri));
  assertEquals([error.code, error.details?.["limit"]], [413, LIMIT_BYTES]);
});

Deno.test("an Agent that may fetch less keeps the handle, and its logger says why", async () => {
  await using office = await openOffice({
    answers: { big: { content: [{ type: "text", text: "x*200000" }] } },
  });
  await office.agent.close();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  await using agent = await Agent.connect({
    url: office.server.url,
    office: "lab",
    name: "bob",
    maxBlobBytes: 100_000,
    logger: { ...silentLogger, warn },
  });
  const { content } = await agent.computer("laptop").callTool("big");
  assertEquals([content[0]?.type, content[0]?._meta?.["a2c_total_size"]], ["resource", 200_000]);
  assertEquals(warnings, ["large parts of an answer were not fetched"]);
});

Deno.test("an unknown handle is 4018, and what newer peers ask for and is not there reads well", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const ask = (event: string, body: Record<string, unknown> = {}) =>
    office.agent.request(event, { computer: "laptop", ...body });
  const unknown = await refusal(ask("client:get_blob", { blob_handle: "nope" }));
  assertEquals([unknown.code, unknown.details], [4018, { reason: "invalid_handle" }]);
  const malformed = await refusal(ask("client:get_blob"));
  assertEquals([malformed.code, malformed.details], [400, { field: "blob_handle" }]);
  const { skills, req_id } = await ask("client:get_skills") as Record<string, unknown>;
  assertEquals([skills, typeof req_id], [[], "string"]);
  assertEquals((await refusal(ask("client:get_skill", { name: "x" }))).code, 4014);
  const other = await refusal(ask("client:make_coffee"));
  assertEquals([other.code, other.details], [400, { field: "event" }]);
  assert(unknown.message.length > 0);
});
