/** A hub behind `deploy/nginx.conf` and `deploy/Caddyfile`, with an official client. */
import { MACHINE_JOIN_PATH } from "../../src/protocol/machines.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Computer } from "../../computer.ts";
import { RunningDoor, startDoor } from "../fixtures/door.ts";
import { connectV1 } from "../fixtures/http_door.ts";
import { KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { eventually, within } from "../fixtures/within.ts";
import { type Configure, configureNginx, fetchStatus, freePort, nginx, proxies } from "./_proxies.ts";
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
  const operators = `${folder}/operators.txt`;
  await Deno.writeTextFile(operators, "operator name=olga\n");
  const words = [
    "--port",
    "0",
    "--token",
    "member",
    "--mcp-token-file",
    clients,
    "--operator-token-file",
    operators,
    "--state-file",
    `${folder}/hub.sqlite`,
    "--public-url",
    url,
    "--machines",
    `${folder}/machines.json`,
  ];
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

/** With the commented lines for the page of the operators, for this address. */
function configureConsole(allowed: string): Configure {
  return async (ports) => {
    const configured = await configureNginx(ports);
    const file = `${ports.folder}/nginx.conf`;
    const config = await Deno.readTextFile(file);
    const [commented = ""] = /^ *# location .*console(?:.*\n)*? {2}# \}$/m.exec(config) ?? [];
    const lines = commented.replace(/^ {2}# /gm, "  ").replace("192.0.2.10", allowed);
    await Deno.writeTextFile(file, config.replace(commented, () => lines));
    return configured;
  };
}

Deno.test({
  name: "nginx passes the page of a hub's operators on to the addresses of its commented lines alone",
  ignore: nginx.ignore,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const ways = [configureNginx, configureConsole("127.0.0.1"), configureConsole("192.0.2.10")];
    const passed: boolean[] = [];
    for (const configure of ways) {
      await using hub = await start(configure);
      passed.push(await fetchStatus(`${hub.url}/console/`) === 200);
    }
    assertEquals(passed, [false, true, false]);
  },
});

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
    name:
      `Behind ${name} a client without a token finds the hub's authorization server by its public URL, and a machine where it joins`,
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
      const joining = await fetch(`${hub.url}${MACHINE_JOIN_PATH}`, { method: "POST", body: "{}" });
      assertEquals([joining.status, typeof (await joining.json()).error], [400, "string"]);
    },
  });
}
