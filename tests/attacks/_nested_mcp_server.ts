/** An MCP server over stdio whose tool answers with a list in a list in a list, 100,000 levels deep. */

const DEPTH = 100_000;
const RESULTS: Readonly<Record<string, string>> = {
  initialize:
    '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"nested","version":"1"}}',
  "tools/list": '{"tools":[{"name":"nest","inputSchema":{"type":"object"}}]}',
  "tools/call": `{"content":[],"structuredContent":{"x":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}}`,
};

const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let rest = "";
for await (const text of lines) {
  const parts = (rest + text).split("\n");
  rest = parts.pop() ?? "";
  for (const line of parts) {
    const { id, method } = JSON.parse(line);
    if (id === undefined) continue;
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${RESULTS[method] ?? "{}"}}\n`;
    const writer = Deno.stdout.writable.getWriter();
    await writer.write(new TextEncoder().encode(answer));
    writer.releaseLock();
  }
}
