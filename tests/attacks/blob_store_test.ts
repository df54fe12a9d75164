/** Attacker: an Agent. It fetches what was kept for another office, guesses handles, and fills the Computer's memory */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const TOOLS = 8;
const RESULT_BYTES = 200_000;
const MAX_BLOB_BYTES = 1_000_000;

/** A Computer whose tools `big0`, `big1` … each answer with another 200 KB, over connections that take 100 KB. */
function openOffice(): Promise<ComputerOffice> {
  const names = Array.from({ length: TOOLS }, (_, n) => `big${n}`);
  const answers = Object.fromEntries(
    names.map((
      name,
      n,
    ) => [`tools/call ${name}`, { content: [{ type: "text", text: `x*${RESULT_BYTES + n}` }] }]),
  );
  const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
  return ComputerOffice.open(scriptedServers({ s: { tools, answers } }), {
    server: { maxPayloadBytes: 100_000 },
    limits: { maxBlobBytes: MAX_BLOB_BYTES },
  });
}

/** A result as it comes, without fetching what was left out: its handle, or the code of its failure. */
async function callOnly(agent: Agent, tool: string): Promise<{ handle?: string; code?: number }> {
  const raw = await agent.request("client:tool_call", { computer: "laptop", tool_name: tool, params: {} });
  const { content, meta } = raw as {
    content: { _meta?: { a2c_blob_handle?: string } }[];
    meta?: { error_code?: number };
  };
  const handle = content[0]?._meta?.a2c_blob_handle;
  return handle === undefined ? { code: meta?.error_code ?? 0 } : { handle };
}

async function refusal(agent: Agent, handle: unknown): Promise<unknown[]> {
  const asked = agent.request("client:get_blob", { computer: "laptop", blob_handle: handle });
  const { code, details } = await assertRejects(() => asked, SmcpError);
  return [code, details?.["reason"]];
}

Deno.test("a handle ends with the office that it was given in", async () => {
  await using office = await openOffice();
  const { handle } = await callOnly(office.agent, "big0");
  assert(handle !== undefined);
  await using stranger = await Agent.connect({ url: office.server.url, office: "other", name: "eve" });
  assertEquals((await refusal(stranger, handle))[0], 404, "a Computer of another office is not there");
  await office.computer.leave();
  await office.computer.join({ url: office.server.url, office: "other" });
  assertEquals(await refusal(stranger, handle), [4018, "invalid_handle"]);
});

Deno.test("a handle cannot be guessed, nor made from another one", async () => {
  await using office = await openOffice();
  const { handle = "" } = await callOnly(office.agent, "big0");
  assert(
    Uint8Array.fromBase64(handle, { alphabet: "base64url" }).length >= 16,
    "too short to be unguessable",
  );
  const { handle: other } = await callOnly(office.agent, "big1");
  assert(other !== handle);
  const guesses = [
    "0",
    `${handle} `,
    handle.slice(1),
    `${handle}A`,
    handle.toLowerCase(),
    "__proto__",
    "../x",
  ];
  for (const guess of guesses.filter((each) => each !== handle)) {
    assertEquals([guess, ...await refusal(office.agent, guess)], [guess, 4018, "invalid_handle"]);
  }
  for (const odd of ["", 1, null, {}, ["x"], "x".repeat(10_000)]) {
    assertEquals((await refusal(office.agent, odd))[0], 400);
  }
});

Deno.test("an Agent that never fetches fills its bound and no more, and is told each time", async () => {
  await using office = await openOffice();
  const outcomes = [];
  for (let n = 0; n < TOOLS; n++) outcomes.push(await callOnly(office.agent, `big${n}`));
  const kept = outcomes.filter(({ handle }) => handle !== undefined);
  assertEquals(kept.length, Math.floor(MAX_BLOB_BYTES / (RESULT_BYTES + TOOLS)));
  assert(outcomes.slice(kept.length).every(({ code }) => code === 413), "a lost result must say so");
  // The same result again takes no more room, and what was fetched gives its room to others.
  assertEquals(await callOnly(office.agent, "big0"), outcomes[0]);
  assertEquals((await office.laptop.callTool("big0")).content[0]?.text?.length, RESULT_BYTES);
  assert((await callOnly(office.agent, `big${TOOLS - 1}`)).handle !== undefined);
});

Deno.test("odd offsets and sizes of a chunk cost no more than one chunk", async () => {
  await using office = await openOffice();
  const { handle } = await callOnly(office.agent, "big0");
  const ask = (body: Record<string, unknown>) =>
    office.agent.request("client:get_blob", { computer: "laptop", blob_handle: handle, ...body });
  for (const max_chunk_bytes of [0, -1, 2 ** 52, undefined]) {
    const { blob } = await ask({ max_chunk_bytes }) as { blob: string };
    assert(blob.length > 0 && blob.length < 100_000, `${blob.length} characters for "${max_chunk_bytes}"`);
  }
  for (const chunk_offset of [-1, RESULT_BYTES + 1, 2 ** 52]) {
    const error = await assertRejects(() => ask({ chunk_offset }), SmcpError);
    assertEquals([error.code, error.details?.["reason"]], [4018, "range"]);
  }
  for (const odd of [{ chunk_offset: 0.5 }, { chunk_offset: "0" }, { max_chunk_bytes: 1e300 }]) {
    assertEquals((await assertRejects(() => ask(odd), SmcpError)).code, 400);
  }
});
