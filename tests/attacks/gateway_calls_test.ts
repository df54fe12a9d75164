/** Attacker: a client of a gateway. It takes all calls and all questions, or looks at Computers beyond its path */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CallShares, MAX_OPEN_CALLS } from "../../src/gateway/tool_handlers.ts";
import { createHttpHandler } from "../../src/gateway/http/handler.ts";
import { LongResults } from "../../src/gateway/search/long_results.ts";
import { type StartCall, SuspendedCalls } from "../../src/gateway/questions.ts";
import type { AgentQuestion } from "../../src/agent/questions.ts";
import { answersOf, AttackedGateway, tool } from "./_attacked_gateway.ts";

Deno.test("a client with many open calls gets no more, and leaves the others theirs", async () => {
  const shares = new CallShares();
  const ended = Promise.withResolvers<string>();
  const open = Array.from({ length: MAX_OPEN_CALLS }, () => shares.run("greedy", () => ended.promise));
  const refused = await shares.run("greedy", () => Promise.resolve("called"));
  assert(typeof refused !== "string" && refused.isError === true);
  assertEquals(await shares.run("other", () => Promise.resolve("called")), "called");
  ended.resolve("ended");
  assertEquals(new Set(await Promise.all(open)), new Set(["ended"]));
  assertEquals(await shares.run("greedy", () => Promise.resolve("called")), "called");
});

/** A call that asks its user, and says what came of it. */
function asking(outcomes: string[], name: string): StartCall {
  return async ({ onQuestion, signal }) => {
    const form = { mode: "form", tool: "ask", message: name, problems: [], fields: [], schema: {} };
    const question = { ...form, computer: "bad", signal };
    const answer = await onQuestion(question as unknown as AgentQuestion);
    outcomes.push(`${name} ${answer?.action}`);
    return { content: [] };
  };
}

Deno.test("a client that lets its user be asked without end loses its own questions alone", async () => {
  const calls = new SuspendedCalls();
  const outcomes: string[] = [];
  const { signal } = new AbortController();
  const begin = (client: string, name = client) =>
    calls.handle(
      { client, tool: "ask", state: undefined, responses: undefined, signal, onProgress: undefined },
      asking(outcomes, name),
    );
  const first = await begin("victim");
  for (let index = 0; index < 300; index++) await begin("greedy", `greedy ${index}`);
  await begin("newcomer");
  assertEquals(new Set(outcomes.map((outcome) => outcome.replace(/ \d+/, ""))), new Set(["greedy cancel"]));
  const state = "requestState" in first ? String(first.requestState) : "";
  const responses = { question: { action: "accept", content: {} } };
  const goOn = (client: string, tool: string) =>
    calls.handle(
      { client, tool, state, responses, signal, onProgress: undefined },
      asking(outcomes, "never"),
    );
  await assertRejects(() => goOn("greedy", "ask"), Error, "not open");
  await assertRejects(() => goOn("victim", "other"), Error, "not open");
  await goOn("victim", "ask");
  assertEquals(outcomes.at(-1), "victim accept");
  calls.close();
});

Deno.test("a client of one Computer learns nothing of the arguments of tools of others", async () => {
  const schema = { type: "object", properties: { secret: { type: "string", "x-mcp-header": "Secret" } } };
  await using gateway = await AttackedGateway.open(
    answersOf([tool("hidden", { params_schema: schema })], []),
  );
  await gateway.client.tools();
  await using handler = createHttpHandler(gateway.gateway);
  const ask = async (path: string) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name: "hidden", arguments: { secret: "x" }, _meta };
    const response = await handler.fetch(
      new Request(`http://127.0.0.1:4000${path}`, {
        method: "POST",
        headers: {
          "host": "127.0.0.1:4000",
          "content-type": "application/json",
          "accept": "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "hidden",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      }),
    );
    return await response.text();
  };
  assertMatch(await ask("/mcp"), /mcp-param-Secret is missing/);
  assertMatch(await ask("/mcp/c/good"), /No tool named/);
});

Deno.test("a client with ever more long results loses its own alone", () => {
  const results = new LongResults();
  const handleOf = (client: string, characters: number) => {
    const text = `${"x ".repeat(characters / 2)}`;
    const { content } = results.shorten({ content: [{ type: "text", text }] }, { client });
    return /handle "([^"]+)"/.exec(String(content.at(-1)?.text))?.[1] ?? "";
  };
  const victim = handleOf("victim", 60_000);
  for (let index = 0; index < 250; index++) handleOf("greedy", 60_000);
  assertEquals(results.read(victim, 2).isError, undefined);
  const last = Array.from({ length: 40 }, () => handleOf("greedy", 1_000_000)).at(-1) ?? "";
  assertEquals([results.read(victim, 2).isError, results.read(last, 2).isError], [undefined, undefined]);
});
