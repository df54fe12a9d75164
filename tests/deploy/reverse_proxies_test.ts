/** `deploy/nginx.conf` and `deploy/Caddyfile` in front of two Servers, with the programs of Debian's packages. */
import { assert, assertEquals } from "@std/assert";
import { request } from "node:http";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { type AuthProvider, type ListenOptions, SmcpServer } from "../../server.ts";
import { POLLING } from "../attacks/_raw_http.ts";
import { RunningDoor } from "../fixtures/door.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import { type Configure, configureNginx, fetchStatus, freePort, nginx, proxies } from "./_proxies.ts";

/** What connecting over polling leaves behind. */
const leaky = { sanitizeOps: false, sanitizeResources: false };
const CLIENTS = 12;

/** A reverse proxy and the two Servers behind it. */
interface Balanced extends AsyncDisposable {
  readonly url: string;
  readonly servers: readonly SmcpServer[];
  /** The addresses that the Servers saw, by Server. */
  readonly addresses: readonly string[][];
}

/** Takes turns among the Servers. */
const configureWithoutStickiness: Configure = async (ports) => {
  const configured = await configureNginx(ports);
  const file = `${ports.folder}/nginx.conf`;
  const config = await Deno.readTextFile(file);
  // Each worker process would take turns on its own.
  const text = config.replace(/^ *hash .*;$/m, "").replace("worker_processes auto", "worker_processes 1");
  await Deno.writeTextFile(file, text);
  return configured;
};

async function start(configure: Configure, options: ListenOptions = {}): Promise<Balanced> {
  await using stack = new AsyncDisposableStack();
  const addresses: string[][] = [[], []];
  const servers = [];
  for (const seen of addresses) {
    const auth: AuthProvider = {
      authenticate({ address }) {
        seen.push(address);
        return { principal: "member" };
      },
    };
    servers.push(
      stack.use(await SmcpServer.listen({ port: 0, auth, trustedProxies: ["loopback"], ...options })),
    );
  }
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const listen = freePort();
  const { words, env = {} } = await configure({
    folder,
    listen,
    servers: servers.map(({ port }) => port),
  });
  stack.use(new RunningDoor(words, { env }));
  const url = `http://127.0.0.1:${listen}`;
  const look = () => fetchStatus(`${url}/socket.io/?EIO=4`);
  // Without a version, a Server refuses with 400.
  await eventually(look, (status) => status === 400, "the proxy in front of a Server");
  const moved = stack.move();
  return { url, servers, addresses, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** An HTTP exchange of a client with its own loopback address. */
function exchange(
  url: string,
  options: {
    readonly from: string;
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly status: number; readonly text: string }> {
  const { from, body, headers = {} } = options;
  const exchanged = new Promise<{ status: number; text: string }>((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, localAddress: from, agent: false, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => text += part);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
  return within(exchanged, `the answer to ${from}`);
}

for (const [tool, configure] of proxies) {
  const { ignore } = tool;
  Deno.test({
    name: `${tool.name} passes /healthz and /readyz on`,
    ignore,
    ...leaky,
    async fn() {
      await using balanced = await start(configure);
      for (const path of ["/healthz", "/readyz"]) {
        assertEquals(await fetchStatus(`${balanced.url}${path}`), 200, path);
      }
    },
  });

  for (const transports of [["websocket"], ["polling"], ["polling", "websocket"]] as const) {
    Deno.test({
      name: `Behind ${tool.name} members meet over ${transports.join(", then ")}`,
      ignore,
      ...leaky,
      async fn() {
        await using balanced = await start(configure);
        const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
        const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
        await using agent = await RawPeer.join(balanced.url, ada, { transports });
        await using computer = await RawPeer.join(balanced.url, laptop, { transports });
        computer.serve("client:tool_call", () => [{ content: [], isError: false }]);
        const call = { agent: "ada", req_id: "r1", computer: "laptop", tool_name: "echo", params: {} };
        const [answer] = await agent.request("client:tool_call", { ...call, timeout: 60 });
        assertEquals(answer, { content: [], isError: false });
        const last = transports.at(-1);
        const { engine } = agent.socket.io;
        await eventually(() => engine.transport.name, (name) => name === last, `the transport ${last}`);
      },
    });
  }

  Deno.test({
    name: `Behind ${tool.name} polling stays at one Server, and the clients share both`,
    ignore,
    ...leaky,
    async fn() {
      await using balanced = await start(configure);
      for (let client = 1; client <= CLIENTS; client++) {
        const from = `127.0.0.${client}`;
        const opened = await exchange(`${balanced.url}${POLLING}`, { from });
        const { sid } = JSON.parse(opened.text.slice(1));
        const session = `${balanced.url}${POLLING}&sid=${sid}`;
        const sent = await exchange(session, {
          from,
          body: "40/smcp,{}",
          headers: { "content-type": "text/plain" },
        });
        assertEquals([sent.status, sent.text], [200, "ok"]);
        const polled = await exchange(session, { from });
        assert(polled.text.startsWith("40/smcp,"), polled.text);
      }
      // The addresses of the clients, none that of the proxy alone.
      assertEquals(new Set(balanced.addresses.flat()).size, CLIENTS);
      for (const seen of balanced.addresses) assert(seen.length > 0, "a Server got no client");
    },
  });

  Deno.test({
    name: `Behind ${tool.name} the headers that a client forges do not reach the Server`,
    ignore,
    ...leaky,
    async fn() {
      await using balanced = await start(configure);
      const headers = { "X-Forwarded-For": "203.0.113.7", Forwarded: "for=203.0.113.8" };
      await using _peer = await RawPeer.connect(balanced.url, { headers });
      assertEquals(balanced.addresses.flat(), ["127.0.0.1"]);
    },
  });

  Deno.test({
    name: `Behind ${tool.name} our Agent and Computer go over to the other Server when theirs ends`,
    ignore,
    ...leaky,
    async fn() {
      await using balanced = await start(configure);
      await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
      await computer.join({ url: balanced.url, office: "lab" });
      await using agent = await Agent.connect({ url: balanced.url, office: "lab", name: "ada" });
      const back = new Promise((resolve) => void agent.on("reconnected", resolve));
      const [theirs] = balanced.servers.filter((_, index) => (balanced.addresses[index]?.length ?? 0) > 0);
      await theirs?.drain();
      await within(back, "the return of the Agent");
      const look = () => agent.computer("laptop").getTools().then((tools) => tools.length, () => -1);
      await eventually(look, (count) => count === 0, "the return of the Computer");
    },
  });
}

Deno.test({
  name: "Behind nginx members come back at the other Server while theirs drains, and its sessions go on",
  ignore: nginx.ignore,
  ...leaky,
  async fn() {
    await using balanced = await start(configureNginx);
    await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
    await computer.join({ url: balanced.url, office: "lab" });
    const polling = { transports: ["polling"] } as const;
    const slow = { role: "computer", name: "slow", office_id: "lab" } as const;
    await using caller = await RawPeer.join(
      balanced.url,
      { role: "agent", name: "ada", office_id: "lab" },
      polling,
    );
    await using called = await RawPeer.join(balanced.url, slow, polling);
    const answering = Promise.withResolvers<unknown[]>();
    called.serve("client:tool_call", () => answering.promise);
    const asked = called.nextRequest("client:tool_call");
    const call = { agent: "ada", req_id: "r1", computer: "slow", tool_name: "echo", params: {} };
    const answer = caller.request("client:tool_call", { ...call, timeout: 60 });
    await asked;
    const [theirs] = balanced.servers.filter((_, index) => (balanced.addresses[index]?.length ?? 0) > 0);
    const drained = theirs?.drain({ timeoutMs: 120_000 });
    await caller.next("notify:connection_closing");
    await using agent = await Agent.connect({ url: balanced.url, office: "lab", name: "bob" });
    const look = () => agent.computer("laptop").getTools().then((tools) => tools.length, () => -1);
    await eventually(look, (count) => count === 0, "the return of the Computer");
    answering.resolve([{ content: [], isError: false }]);
    assertEquals(await answer, [{ content: [], isError: false }]);
    await drained;
  },
});

Deno.test({
  name: "Without stickiness polling is lost, and our Agent connects to Servers of websocket alone",
  ignore: nginx.ignore,
  ...leaky,
  async fn() {
    await using both = await start(configureWithoutStickiness);
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) {
      const { text } = await exchange(`${both.url}${POLLING}`, { from: "127.0.0.1" });
      const { sid } = JSON.parse(text.slice(1));
      // One more request in between, as those of other clients.
      if (i === 1) await fetchStatus(`${both.url}/socket.io/?EIO=4`);
      const sent = { from: "127.0.0.1", body: "40/smcp,{}", headers: { "content-type": "text/plain" } };
      statuses.push((await exchange(`${both.url}${POLLING}&sid=${sid}`, sent)).status);
    }
    assertEquals(statuses.toSorted(), [200, 400]);
    await using sockets = await start(configureWithoutStickiness, { transports: ["websocket"] });
    for (const office of ["a", "b", "c", "d"]) {
      await using agent = await Agent.connect({ url: sockets.url, office, name: "ada" });
      assertEquals((await agent.listOffice()).length, 1);
    }
    for (let i = 0; i < 2; i++) {
      await using _peer = await RawPeer.connect(sockets.url, { transports: ["websocket"] });
    }
    for (const seen of sockets.addresses) assert(seen.length > 0, "a Server got no client");
  },
});
