import { assertEquals, assertRejects } from "@std/assert";
import { makeHandler } from "../../../../src/agent/toolkit/mcp_server.ts";

const MIB = 1024 * 1024;

/** Calls a tool over HTTP in memory; resolves to the status, and to the sizes of the files that were saved. */
async function save(
  file: string,
  signal?: AbortSignal,
): Promise<{ status: number; sizes: readonly number[]; text: string }> {
  const sizes: number[] = [];
  using handler = await makeHandler({
    list: () => Promise.resolve([]),
    call: (_name, args) => {
      sizes.push(String(args["file"]).length);
      return Promise.resolve({
        content: [],
        _meta: { a2c_computer: "desk", a2c_mcp_server: "files", own: 1 },
      });
    },
    onListChanged: () => () => undefined,
  });
  const params = { name: "save", arguments: { file } };
  const response = await handler.fetch(
    new Request("http://office.invalid/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return { status: response.status, sizes, text: await response.text() };
}

Deno.test("a client over HTTP in memory may send a file as an argument", async () => {
  const { status, sizes } = await save("x".repeat(5 * MIB));
  assertEquals([status, sizes], [200, [5 * MIB]]);
});

Deno.test("a result has the metadata of the MCP server alone: some toolkits show a model all of it", async () => {
  const { text } = await save("x");
  assertEquals([text.includes('"own":1'), text.includes("a2c_")], [true, false], text);
});

Deno.test("a request that was aborted rejects with its reason", async () => {
  await assertRejects(() => save("x", AbortSignal.abort(new Error("enough"))), Error, "enough");
});
