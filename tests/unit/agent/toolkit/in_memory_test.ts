import { assertEquals, assertRejects } from "@std/assert";
import { serveFetch } from "../../../../src/agent/toolkit/in_memory.ts";

const called: string[] = [];
const tools = {
  list: () => Promise.resolve([]),
  call: (name: string) => {
    called.push(name);
    return Promise.resolve({ content: [] });
  },
  onListChanged: () => () => undefined,
};

Deno.test("serveFetch() leaves no client waiting for the answer to a message that is no request", async () => {
  for (
    const odd of [{ id: null, method: "ping" }, { id: 1, method: 7 }, { id: {}, method: "ping" }, 7, null]
  ) {
    const request = new Request("http://office/mcp", { method: "POST", body: JSON.stringify(odd) });
    const { status, body } = await serveFetch(tools, request);
    assertEquals([status, body], [202, null], JSON.stringify(odd));
  }
});

Deno.test("serveFetch() calls no tool for a request that was aborted", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "send" } });
  const signal = AbortSignal.abort(new Error("enough"));
  const request = () => new Request("http://office/mcp", { method: "POST", body, signal });
  await assertRejects(() => serveFetch(tools, request()), Error, "enough");
  assertEquals(called, []);
});
