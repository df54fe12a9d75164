/** A hub behind `deploy/nginx.conf` and `deploy/Caddyfile`, with an official client. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Computer } from "../../computer.ts";
import { RunningDoor, startDoor } from "../fixtures/door.ts";
import { connectV1 } from "../fixtures/http_door.ts";
import { KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { eventually, within } from "../fixtures/within.ts";
import { type Configure, fetchStatus, freePort, proxies } from "./_proxies.ts";
import { untilListening } from "./_tools.ts";

const OFFICE = "the lab/upstairs";
const PATH = `/mcp/o/${encodeURIComponent(OFFICE)}`;

/** Starts a hub and a proxy in front of it; a client has the token `client`, a member `member`. */
async function start(configure: Configure) {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const listen = freePort();
  const url = `http://127.0.0.1:${listen}`;
  const clients = `${folder}/clients.txt`;
  await Deno.writeTextFile(clients, JSON.stringify([{ token: "client", name: "ada", offices: [OFFICE] }]));
  const words = ["--port", "0", "--token", "member", "--mcp-token-file", clients, "--public-url", url];
  const program = startDoor("hub.ts", [...words, "--trust-proxy", "loopback"]);
  const hub = stack.use(await untilListening(program));
  const configured = await configure({ folder, listen, servers: [hub.port] });
  stack.use(new RunningDoor(configured.words, { env: configured.env ?? {} }));
  await eventually(
    () => fetchStatus(`${url}${PATH}`),
    (status) => status === 401,
    "the proxy in front of a hub",
  );
  const computer = stack.use(
    Computer.open({ name: "laptop", config: { servers: { kiosk: kioskOnStdio() }, inputs: [] } }),
  );
  await computer.join({ url, office: OFFICE, token: "member" });
  await computer.ready();
  const moved = stack.move();
  return { url, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

for (const [{ name, ignore }, configure] of proxies) {
  Deno.test({
    name: `Behind ${name} a client calls tools of a hub's office, and hears of changes`,
    ignore,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using hub = await start(configure);
      const client = new Client({ name: "test", version: "1" });
      const updated = Promise.withResolvers<string>();
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }: { params: { uri: string } }) => updated.resolve(params.uri),
      );
      const headers = { authorization: "Bearer client" };
      await using _ = await connectV1(new URL(`${hub.url}${PATH}`), { client, headers });
      await client.subscribeResource({ uri: KIOSK_WINDOW });
      const { content } = await client.callTool({ name: "show", arguments: { text: "new" } });
      assertEquals(content, [{ type: "text", text: "shown" }]);
      assertEquals(await within(updated.promise, "the update of the window"), KIOSK_WINDOW);
    },
  });

  Deno.test({
    name: `Behind ${name} a client without a token finds the hub's authorization server by its public URL`,
    ignore,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using hub = await start(configure);
      const refused = await fetch(`${hub.url}${PATH}`, { method: "POST" });
      await refused.body?.cancel();
      const challenge = refused.headers.get("www-authenticate") ?? "";
      const metadata = `${hub.url}/.well-known/oauth-protected-resource${PATH}`;
      assertStringIncludes(challenge, `resource_metadata="${metadata}"`);
      const { resource, authorization_servers: servers } = await (await fetch(metadata)).json();
      assertEquals([resource, servers], [`${hub.url}${PATH}`, [hub.url]]);
      const server = await (await fetch(`${hub.url}/.well-known/oauth-authorization-server`)).json();
      assertEquals(server.issuer, hub.url);
      assertEquals(await fetchStatus(`${hub.url}/oauth/nothing`), 404);
    },
  });
}
