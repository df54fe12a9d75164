/** An MCP server over stdio whose tool answers each time with another text of 30 MiB and an image. */
import { imageOf, textOf } from "./_large_result.ts";

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "large", version: "1" },
  },
  "tools/list": { tools: [{ name: "dump", inputSchema: { type: "object" } }] },
};

let calls = 0;
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (id === undefined) continue;
    const result = method === "tools/call" ? call() : RESULTS[method] ?? {};
    const bytes = new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
    for (let done = 0; done < bytes.length;) done += await Deno.stdout.write(bytes.subarray(done));
  }
}

function call(): unknown {
  const index = calls++;
  const image = { type: "image", data: imageOf(index), mimeType: "image/png" };
  return { content: [{ type: "text", text: textOf(index) }, image] };
}
