import { assertEquals, assertObjectMatch, assertRejects } from "@std/assert";
import { isRecord } from "../../src/json/json.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { ProtocolMinor } from "../../src/protocol/version.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";

const long = (length: number) => "x".repeat(length);
/** The bytes of so many `x`, read as base64. */
const bytesOf = (length: number) => Uint8Array.fromBase64(long(length));
/** 32,768 and 32,769 bytes. */
const [AT_LIMIT, ABOVE_LIMIT] = [43_691, 43_692];

function openOffice(
  protocolVersion: ProtocolMinor,
  answer: Record<string, unknown>,
  options: OfficeOptions = {},
): Promise<ComputerOffice> {
  const tools = [{ name: "big", inputSchema: { type: "object" } }];
  return ComputerOffice.open(scriptedServers({ s: { tools, answers: { "tools/call big": answer } } }), {
    protocolVersion,
    ...options,
  });
}

async function toolName(office: ComputerOffice): Promise<string> {
  const [tool] = (await office.laptop.getTools()).filter(({ name }) => name.endsWith("big"));
  return tool?.name ?? "";
}

/** The result as it is on the wire. */
async function rawResult(office: ComputerOffice): Promise<Record<string, unknown>> {
  const tool_name = await toolName(office);
  const raw = await office.agent.request("client:tool_call", { computer: "laptop", tool_name, params: {} });
  return isRecord(raw) ? raw : {};
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Binaries in every place, below, at and above the limit. */
const content = [
  { type: "text", text: `x*${ABOVE_LIMIT}` },
  { type: "image", data: "x*400", mimeType: "image/png" },
  { type: "image", data: `x*${AT_LIMIT}`, mimeType: "image/png" },
  { type: "image", data: `x*${ABOVE_LIMIT}`, mimeType: "image/png", _meta: { own: 1, a2c_answer: true } },
  { type: "audio", data: "x*400000", mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "file:///b", mimeType: "application/pdf", blob: "x*100000" } },
  { type: "image", data: `x*${ABOVE_LIMIT + 1}`, mimeType: "image/png" },
];
const structuredContent = { copy: `x*${ABOVE_LIMIT}` };

for (const version of ["0.3", "0.4"] as const) {
  Deno.test(
    `at ${version} binaries above 32,768 bytes leave the result, with a handle in their item`,
    async () => {
      await using office = await openOffice(version, { content, structuredContent });
      const mark = async (length: number) => ({
        a2c_total_size: bytesOf(length).length,
        a2c_sha256: await digest(bytesOf(length)),
      });
      const raw = await rawResult(office);
      assertObjectMatch(raw, {
        content: [
          { type: "text", text: long(ABOVE_LIMIT) },
          { type: "image", data: long(400) },
          { type: "image", data: long(AT_LIMIT) },
          { type: "image", data: "", mimeType: "image/png", _meta: { own: 1, ...await mark(ABOVE_LIMIT) } },
          { type: "audio", data: "", mimeType: "audio/wav", _meta: await mark(400_000) },
          {
            type: "resource",
            resource: { uri: "file:///b", mimeType: "application/pdf", blob: "" },
            _meta: await mark(100_000),
          },
          // Not base64: nothing could be kept.
          { type: "image", data: long(ABOVE_LIMIT + 1) },
        ],
        structuredContent: { copy: long(ABOVE_LIMIT) },
      });
      const items = raw["content"];
      const metas = Array.isArray(items) ? items.map(({ _meta }) => _meta ?? {}) : [];
      assertEquals(metas.map((meta) => "a2c_answer" in meta || "a2c_text" in meta), metas.map(() => false));
      assertEquals(metas.map((meta) => "a2c_blob_handle" in meta), [
        false,
        false,
        false,
        true,
        true,
        true,
        false,
      ]);
    },
  );

  Deno.test(`at ${version} the Agent gets every byte back, and its own metadata`, async () => {
    await using office = await openOffice(version, { content, structuredContent });
    const result = await office.laptop.callTool(await toolName(office));
    assertEquals(result.content, [
      { type: "text", text: long(ABOVE_LIMIT) },
      { type: "image", data: long(400), mimeType: "image/png" },
      { type: "image", data: long(AT_LIMIT), mimeType: "image/png" },
      { type: "image", data: long(ABOVE_LIMIT), mimeType: "image/png", _meta: { own: 1 } },
      { type: "audio", data: long(400_000), mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///b", mimeType: "application/pdf", blob: long(100_000) } },
      { type: "image", data: long(ABOVE_LIMIT + 1), mimeType: "image/png" },
    ]);
    assertEquals(result.structuredContent, { copy: long(ABOVE_LIMIT) });
  });
}

Deno.test("at 0.2 binaries stay in a result that fits into one message", async () => {
  await using office = await openOffice("0.2", { content });
  const { content: items } = await rawResult(office);
  assertEquals(
    Array.isArray(items) ? items.map(({ data, resource }) => (data ?? resource?.blob)?.length) : [],
    [undefined, 400, AT_LIMIT, ABOVE_LIMIT, 400_000, 100_000, ABOVE_LIMIT + 1],
  );
});

Deno.test("a result whose binaries cannot all be kept stays as it is", async () => {
  await using office = await openOffice("0.4", { content }, { limits: { maxBlobBytes: 300_000 } });
  const { content: items } = await rawResult(office);
  assertEquals(Array.isArray(items) ? items[4].data.length : 0, 400_000);
});

Deno.test(
  "an emptied result that is still too large is fetched as a whole, binaries included",
  async () => {
    const many = Array.from({ length: 2_500 }, (_, n) => ({ type: "text", text: `item ${n}` }));
    const picture = { type: "image", data: "x*400000", mimeType: "image/png" };
    await using office = await openOffice("0.4", { content: [picture, ...many] }, {
      server: { maxPayloadBytes: 100_000 },
    });
    const { content: items } = await office.laptop.callTool(await toolName(office));
    assertEquals(items, [{ ...picture, data: long(400_000) }, ...many] as unknown);
  },
);

Deno.test(
  "at 0.3 a chunk outside of a blob, and a handle that is none, are 4018 with their reason",
  async () => {
    await using office = await openOffice("0.3", { content });
    const { content: items } = await rawResult(office);
    const blob_handle = Array.isArray(items) ? items[4]._meta.a2c_blob_handle : "";
    const ask = (body: Record<string, unknown>) =>
      office.agent.request("client:get_blob", { computer: "laptop", blob_handle, ...body });
    const reasonOf = async (body: Record<string, unknown>) => {
      const error = await assertRejects(() => ask(body), SmcpError);
      return [error.code, error.details];
    };
    for (const chunk_offset of [-1, 300_001]) {
      assertEquals(await reasonOf({ chunk_offset }), [4018, { reason: "range" }]);
    }
    for (const blob_handle of ["nope", "x".repeat(5_000)]) {
      assertEquals(await reasonOf({ blob_handle }), [4018, { reason: "invalid_handle" }]);
    }
    assertObjectMatch({ ...await ask({ chunk_offset: 300_000 }) as object }, { eof: true, blob: "" });
    const chunk = { ...await ask({ max_chunk_bytes: 1_000_000 }) as object };
    assertObjectMatch(chunk, { eof: false, blob: bytesOf(400_000).subarray(0, 262_144).toBase64() });
  },
);
