/** Attacker: a Computer. Its answers claim absurd sizes, come in tiny pieces, or never end, to cost the Agent memory and time */
import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import { MAX_BLOB_CHUNKS } from "../../src/agent/blobs.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { RecordingLogger } from "../integration/_socket.ts";
import { type Answer, ScriptedComputer } from "../integration/_scripted_computer.ts";

const MIB = 1024 * 1024;

function image(handle: string, meta: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "image", data: "", mimeType: "image/png", _meta: { a2c_blob_handle: handle, ...meta } };
}

function chunk(request: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const { blob_handle, chunk_offset, req_id } = request;
  return {
    blob_handle,
    total_size: 1,
    sha256: "00",
    chunk_offset,
    eof: false,
    blob: "AA==",
    req_id,
    ...change,
  };
}

/** Calls a tool whose answer is `content`, of a Computer that serves blobs by `getBlob`; counts its chunks. */
async function call(
  content: readonly unknown[],
  getBlob: Answer,
  options: Partial<AgentOptions> = {},
) {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": () => ({ content }), "client:get_blob": getBlob },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", ...options });
  const before = Deno.memoryUsage();
  const startMs = performance.now();
  const result = await agent.computer("laptop").callTool("work");
  const after = Deno.memoryUsage();
  const chunks = computer.requests.filter(({ event }) => event === "client:get_blob").length;
  const grownBytes = after.external - before.external + after.heapUsed - before.heapUsed;
  return { result, chunks, grownBytes, tookMs: performance.now() - startMs };
}

Deno.test("a blob that claims absurd sizes costs no memory before its bytes are there", async () => {
  const sizes = [2 ** 53 - 1, 2 ** 40, 64 * MIB];
  const content = sizes.map((_, n) => image(`h${n}`, { a2c_total_size: 2 ** 53 - 1 }));
  const { result, chunks, grownBytes } = await call(content, (request) => {
    const total_size = sizes[Number(String(request["blob_handle"]).slice(1))];
    return chunk(request, { total_size, eof: Number(request["chunk_offset"]) > 0 });
  });
  assertEquals(result.content, content as unknown);
  assert(chunks <= 2 * sizes.length, `${chunks} chunks were asked for`);
  assert(grownBytes < 16 * MIB, `${grownBytes} bytes`);
});

Deno.test("tiny pieces are given up after a bounded number of requests", async () => {
  const { chunks, result } = await call(
    [image("h0"), image("h1"), image("h2")],
    (request) => chunk(request, { total_size: 10 * MIB }),
  );
  assertEquals(chunks, MAX_BLOB_CHUNKS);
  assertEquals(result.content.map(({ data }) => data), ["", "", ""]);
});

Deno.test("a Computer that is slow to serve its blobs ends at the Agent's bound, with the result", async () => {
  const { result, tookMs } = await call([image("h0"), image("h1")], () => undefined, { blobTimeoutMs: 300 });
  assertEquals(result.content.map(({ data }) => data), ["", ""]);
  assert(tookMs < 20_000, `${tookMs} ms`);
});

Deno.test("bytes that are no answer, no text and no JSON leave the item as it came", async () => {
  const marks = [{ a2c_answer: true }, { a2c_text: true }, { a2c_structured_content: true }];
  const content = marks.map((mark, n) => image(`h${n}`, mark));
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array([255]))).toHex();
  const { result } = await call(content, (request) => chunk(request, { sha256, eof: true, blob: "/w==" }));
  assertEquals(result.content, content as unknown);
  assertEquals(result.structuredContent, undefined);
});

Deno.test("an answer within an answer is not followed", async () => {
  const inner = new TextEncoder().encode(JSON.stringify({ content: [image("h0", { a2c_answer: true })] }));
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", inner)).toHex();
  const { chunks, result } = await call(
    [image("h0", { a2c_answer: true })],
    (request) => chunk(request, { total_size: inner.length, sha256, eof: true, blob: inner.toBase64() }),
  );
  assertEquals([chunks, result.content.length], [1, 1]);
});

Deno.test("parts that cannot be fetched are one line in the Agent's log, however many there are", async () => {
  const logger = new RecordingLogger();
  const content = Array.from({ length: 200 }, (_, n) => image(`h${n}`));
  const { result, chunks } = await call(content, () => ({ code: 4018, message: "gone" }), { logger });
  assertEquals([result.content.length, chunks], [200, 200]);
  const warnings = logger.lines.filter(({ level }) => level === "warn");
  assertEquals(warnings.map(({ fields }) => fields["count"]), [200]);
});
