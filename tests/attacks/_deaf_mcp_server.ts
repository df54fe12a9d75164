/** An MCP server over stdio that pings and never reads again: exits with 9 once its pipe is full, with 8 if it never is. */

const PINGS = 100_000;
/** How long a write may take, in milliseconds, before the pipe counts as full. */
const FULL_MS = 500;

const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
const { value = "" } = await input.read();
const { id } = JSON.parse(value.split("\n")[0] ?? "");
const result = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  serverInfo: { name: "deaf", version: "1" },
};
await write({ id, result });
for (let count = 0; count < PINGS; count++) await write({ id: count, method: "ping" });
Deno.exit(8);

async function write(message: Readonly<Record<string, unknown>>): Promise<void> {
  const full = setTimeout(() => Deno.exit(9), FULL_MS);
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  clearTimeout(full);
}
