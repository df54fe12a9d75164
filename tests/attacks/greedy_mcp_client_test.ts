/** Attacker: an MCP client of a hub that may only read, and opens as many connections as it gets. */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { doorWords } from "../fixtures/door.ts";
import { HttpDoor } from "../fixtures/http_door.ts";
import { eventually } from "../fixtures/within.ts";
import { RawConnection } from "./_raw_http.ts";

const MAX_SOCKETS = 40;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "greedy", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const LISTEN = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "subscriptions/listen",
  params: { notifications: { toolsListChanged: true }, _meta: META },
});

/** Opens a stream; resolves to the status of its answer, and for a refusal when the hub has ended the connection. */
async function listen({ url }: HttpDoor, stack: AsyncDisposableStack): Promise<string> {
  const connection = stack.use(new RawConnection(Number(url.port)));
  const headers = [
    `Host: ${url.host}`,
    "Authorization: Bearer greedy",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: subscriptions/listen",
    `Content-Length: ${LISTEN.length}`,
  ];
  connection.write(`POST /mcp/o/lab HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${LISTEN}`);
  const received = await connection.until("the head of the answer", (text) => text.includes("\r\n\r\n"));
  const status = received.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
  if (status === "503") {
    assertMatch(received, /^connection: close\r$/im);
    await connection.untilClosed();
  }
  return status;
}

Deno.test("it gets three quarters of them, and others are served", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const clients = join(folder, "clients.txt");
  await Deno.writeTextFile(
    clients,
    "greedy name=greedy offices=lab rights=read\nother name=other offices=lab\n",
  );
  const words = ["--port", "0", "--token", "member", "--mcp-token-file", clients];
  words.push("--max-sockets", String(MAX_SOCKETS), "--state-file", join(folder, "hub.sqlite"));
  const hub = stack.use(await HttpDoor.start(doorWords("hub.ts", words)));
  const answers: string[] = [];
  const opened = stack.use(new AsyncDisposableStack());
  for (let count = 0; count < MAX_SOCKETS - 5; count++) answers.push(await listen(hub, opened));
  assertEquals(answers.filter((status) => status === "200").length, MAX_SOCKETS * 3 / 4);
  assertEquals(answers.filter((status) => status === "503").length, MAX_SOCKETS / 4 - 5);
  const other = await fetch(hub.url.origin + "/mcp/o/lab", {
    method: "POST",
    headers: { authorization: "Bearer other", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await other.body?.cancel();
  assertEquals(other.status < 500, true);
  await opened.disposeAsync();
  await using again = new AsyncDisposableStack();
  await eventually(
    () => listen(hub, again),
    (status) => status === "200",
    "connections that were given back",
  );
});
