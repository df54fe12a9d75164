/** An MCP server over stdio that prints empty lines as fast as they are read, and tells on stderr how many bytes. */

const CHUNK = new TextEncoder().encode("\n".repeat(65_536));
/** How often it tells. */
const TOLD_BYTES = 1_000_000;

const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
const { value = "" } = await input.read();
const { id } = JSON.parse(value.split("\n")[0] ?? "");
const result = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  serverInfo: { name: "empty", version: "1" },
};
await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`));
let written = 0;
let told = 0;
while (true) {
  written += await Deno.stdout.write(CHUNK);
  if (written - told < TOLD_BYTES) continue;
  told = written;
  console.error(`written ${told}`);
}
