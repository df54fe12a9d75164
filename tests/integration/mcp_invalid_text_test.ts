import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Computer } from "../../computer.ts";
import { Agent } from "../../agent.ts";
import { SmcpServer } from "../../server.ts";

/** Answers as an MCP server does, but its tool's result holds a byte that is no UTF-8. */
const SERVER = `
const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let rest = "";
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
for await (const chunk of lines) {
  const parts = (rest + chunk).split("\\n");
  rest = parts.pop();
  for (const part of parts) {
    const { id, method, params } = JSON.parse(part);
    if (method === "initialize") {
      send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    } else if (method === "tools/list") send(id, { tools: [{ name: "bad", inputSchema: { type: "object" } }] });
    else if (method === "tools/call") {
      const json = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "bad ?" }] } });
      const bytes = new TextEncoder().encode(json + "\\n");
      bytes[bytes.indexOf(63)] = 255;
      Deno.stdout.writeSync(bytes);
    }
  }
}`;

async function callBad(encoding_error_handler: string) {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = Computer.open({
    name: "laptop",
    config: {
      servers: {
        s: {
          type: "stdio",
          default_tool_meta: { auto_apply: true },
          server_parameters: { command: Deno.execPath(), args: ["eval", SERVER], encoding_error_handler },
        },
      },
    },
  });
  await computer.ready();
  await computer.join({ url: server.url, office: "lab" });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  return await agent.computer("laptop").callTool("bad");
}

// proves: data-config-encoding-errors
Deno.test("an answer that is not valid text fails its call at once and says why", async () => {
  const { isError, meta, content } = await callBad("strict");
  assertEquals([isError, meta?.error_code], [true, 4003]);
  assertStringIncludes(content[0]?.text ?? "", "not valid utf-8");
});

// proves: data-config-encoding-errors
Deno.test("an answer that is not valid text is taken with replacements where the config says so", async () => {
  const { isError, content } = await callBad("replace");
  assertEquals([isError, content[0]?.text], [false, "bad \ufffd"]);
  assert(content.length === 1);
});
