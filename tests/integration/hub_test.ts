/** The hub as a program, with the official clients of both eras over HTTP, and Computers at its Server. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { doorWords, runDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { connectV1, HttpDoor, untilOffered } from "../fixtures/http_door.ts";
import { KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { eventually, within } from "../fixtures/within.ts";
import { makeCertificate } from "./_tls_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const CLIENTS = `
all-offices
lab-only name=claude offices=lab
both-offices name=cursor offices=lab,den
read-only name=phone offices=lab rights=read
ask-first name=asking offices=lab rights=confirm
no-laptop name=other offices=lab computers=desk
`;

/** A hub with tokens for members (`member`) and MCP clients, and the Computers that have joined it. */
class TestHub implements AsyncDisposable {
  readonly door: HttpDoor;
  readonly clientsFile: string;
  readonly #all: AsyncDisposableStack;

  private constructor(door: HttpDoor, clientsFile: string, all: AsyncDisposableStack) {
    this.door = door;
    this.clientsFile = clientsFile;
    this.#all = all;
  }

  static async start(args: readonly string[] = []): Promise<TestHub> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir();
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const clientsFile = join(folder, "clients.txt");
    await Deno.writeTextFile(clientsFile, CLIENTS);
    const words = ["--port", "0", "--token", "member", "--mcp-token-file", clientsFile, ...args];
    const door = stack.use(await HttpDoor.start(doorWords("hub.ts", words)));
    return new TestHub(door, clientsFile, stack.move());
  }

  get origin(): string {
    return this.door.url.origin;
  }

  /** A Computer with the kiosk joins an office. */
  async add(name: string, office = "lab"): Promise<Computer> {
    const computer = this.#all.use(Computer.open({ name, config: { servers: { kiosk: kioskOnStdio() } } }));
    await computer.join({ url: this.origin, office, token: "member" });
    await computer.ready();
    return computer;
  }

  connect(path: string, token: string): ReturnType<typeof connectV1> {
    return connectV1(this.door.at(path), { headers: bearer(token) });
  }

  /** Begins a session as a client does, without a library. */
  async initialize(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
    const response = await fetch(this.door.at(path), initializing(headers));
    return { status: response.status, text: await response.text() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

function initializing(headers: Record<string, string>): RequestInit {
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

Deno.test("several clients of both eras use an office of the hub at once, through one seat", async () => {
  await using hub = await TestHub.start();
  await hub.add("laptop");
  await using first = await hub.connect("/mcp/o/lab", "lab-only");
  await using second = await hub.connect("/mcp/o/l%61b/c/laptop", "all-offices");
  const modern = new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const updated = Promise.withResolvers<string>();
  modern.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => updated.resolve(params.uri),
  );
  await modern.connect(
    new HttpV2(hub.door.at("/mcp/o/lab"), { requestInit: { headers: bearer("lab-only") } }),
  );
  assertEquals(modern.getNegotiatedProtocolVersion(), "2026-07-28");
  await untilOffered(modern, "echo");
  const stream = await modern.listen({ resourceSubscriptions: [KIOSK_WINDOW] });
  const calls = [first, second, modern].map(async (client, index) => {
    const text = `call ${index}`;
    const { content } = await client.callTool({ name: "echo", arguments: { text } });
    assertEquals(content, [{ type: "text", text }]);
  });
  await Promise.all(calls);
  await first.callTool({ name: "show", arguments: { text: "new" } });
  assertEquals(await within(updated.promise, "the update of the window"), KIOSK_WINDOW);
  await stream.close();
  await modern.close();
  await using search = await hub.connect("/mcp/o/lab/search", "lab-only");
  assertEquals(namesOf(await search.listTools()).includes("find_tools"), true);
  await using member = await Agent.connect({
    url: hub.origin,
    office: "lab",
    name: "ada",
    token: "member",
    observer: true,
  });
  const members = await member.listOffice();
  assertEquals(members.map(({ name, role }) => `${role} ${name}`).toSorted(), [
    "agent hub",
    "computer laptop",
  ]);
});

Deno.test("a path without an office serves all offices that the token names", async () => {
  await using hub = await TestHub.start();
  await hub.add("laptop");
  await hub.add("laptop", "den");
  await using one = await hub.connect("/mcp", "lab-only");
  await untilOffered(one, "echo");
  await using both = await hub.connect("/mcp", "both-offices");
  const list = async () => JSON.stringify(await both.callTool({ name: "list_computers", arguments: {} }));
  await eventually(list, (listed) => listed.includes("laptop@den"), "the Computers of both offices");
  const none = await hub.initialize("/mcp", bearer("all-offices"));
  assertEquals([none.status, /name one: \/mcp\/o\/\{office\}/.test(none.text)], [404, true]);
});

Deno.test("names of tools last over restarts of the hub, in each office and in several as one", async () => {
  using folder = new TempFolder();
  const state = ["--state-file", join(folder.path, "hub.sqlite")];
  {
    await using hub = await TestHub.start(state);
    await hub.add("laptop");
    for (const path of ["/mcp/o/lab", "/mcp"]) {
      await using client = await hub.connect(path, "both-offices");
      await untilOffered(client, "echo");
    }
  }
  await using hub = await TestHub.start(state);
  await Promise.all([hub.add("laptop"), hub.add("desk"), hub.add("laptop", "den")]);
  await using one = await hub.connect("/mcp/o/lab", "both-offices");
  await untilOffered(one, "desk__echo");
  assertEquals(namesOf(await one.listTools()).filter((name) => name.endsWith("echo")), [
    "desk__echo",
    "echo",
  ]);
  await using all = await hub.connect("/mcp", "both-offices");
  await untilOffered(all, "laptop_den__echo");
  assertEquals(namesOf(await all.listTools()).filter((name) => name.endsWith("echo")).toSorted(), [
    "desk__echo",
    "echo",
    "laptop_den__echo",
  ]);
});

Deno.test("a client reaches what its token permits, and learns of nothing else", async () => {
  await using hub = await TestHub.start();
  await hub.add("laptop");
  await using reader = await hub.connect("/mcp/o/lab", "read-only");
  await untilOffered(reader, "echo");
  const read = await reader.callTool({ name: "echo", arguments: { text: "hi" } });
  assertEquals(read.isError ?? false, false);
  const written = await reader.callTool({ name: "show", arguments: { text: "no" } });
  assertEquals(written.isError, true);
  await using blind = await hub.connect("/mcp/o/lab", "no-laptop");
  assertEquals(namesOf(await blind.listTools()).includes("echo"), false);
  const refusals = await Promise.all([
    hub.initialize("/mcp/o/den", bearer("lab-only")),
    hub.initialize("/mcp/o/no%20such", bearer("lab-only")),
    hub.initialize("/mcp/o/lab", {}),
    hub.initialize("/mcp/o/no%20such", {}),
    hub.initialize("/mcp/o/lab", bearer("member")),
    hub.initialize("/mcp/o/lab", { ...bearer("lab-only"), origin: "https://page.example" }),
    hub.initialize("/elsewhere", bearer("lab-only")),
  ]);
  assertEquals(refusals.map(({ status }) => status), [403, 403, 401, 401, 401, 403, 404]);
  const [other, none] = refusals;
  assertEquals(other?.text, none?.text);
  await assertRejects(() =>
    Agent.connect({ url: hub.origin, office: "lab", name: "ada", token: "lab-only", timeoutMs: 100_000 })
  );
});

Deno.test("the line about a client that was refused has its address, also behind a proxy", async () => {
  await using hub = await TestHub.start(["--trust-proxy", "loopback"]);
  await hub.initialize("/mcp/o/lab", {});
  await hub.door.program.said("path=/mcp/o/lab address=127.0.0.1");
  await hub.initialize("/mcp/o/den", { ...bearer("lab-only"), "x-forwarded-for": "203.0.113.7" });
  await hub.door.program.said("path=/mcp/o/den address=203.0.113.7");
});

Deno.test("a hub that clients reach by another URL than it knows says that they cannot sign in", async () => {
  const told = "give --public-url";
  await using proxied = await TestHub.start(["--trust-proxy", "loopback"]);
  assertStringIncludes(proxied.door.program.stderr.text, told);
  await using hub = await TestHub.start();
  const ask = async (host: string) => {
    const url = hub.door.at("/.well-known/oauth-protected-resource/mcp/o/lab");
    url.hostname = host;
    await (await fetch(url)).body?.cancel();
  };
  await ask("127.0.0.1");
  assertEquals(hub.door.program.stderr.text.includes(told), false);
  await ask("localhost");
  await hub.door.program.said(told);
});

Deno.test("a hub behind a proxy that it does not know of says so when a client begins to sign in", async () => {
  await using hub = await TestHub.start();
  const told = "give --public-url";
  assertEquals((await hub.initialize("/mcp/o/lab", {})).status, 401);
  assertEquals((await hub.initialize("/mcp/o/lab", { ...bearer("lab-only"), via: "1.1 proxy" })).status, 200);
  assertEquals(hub.door.program.stderr.text.includes(told), false);
  assertEquals((await hub.initialize("/mcp/o/lab", { "x-forwarded-proto": "https" })).status, 401);
  await hub.door.program.said(told);
});

Deno.test("the log says whose a refused token is, and its client is told the same as anybody", async () => {
  await using hub = await TestHub.start();
  const refused = async (token: string, detail: string) => {
    const { status, text } = await hub.initialize("/mcp/o/lab", bearer(token));
    await hub.door.program.said(detail);
    return { status, text };
  };
  const answers = [
    await refused("nobody's", 'detail="wrong token: unknown, or expired"'),
    await refused("member", 'detail="a token of --token"'),
  ];
  assertEquals(answers[0], answers[1]);
  assertEquals(answers[0]?.status, 401);
});

Deno.test("the activity log says whose call it was, where, and that nobody allowed it", async () => {
  using folder = new TempFolder();
  const path = join(folder.path, "activity.jsonl");
  await using hub = await TestHub.start(["--activity-log", path]);
  // It has nobody to ask.
  await hub.add("laptop");
  await using client = await hub.connect("/mcp/o/lab", "ask-first");
  await untilOffered(client, "show");
  await client.callTool({ name: "show", arguments: { text: "hello" } });
  const line = await eventually(() => Deno.readTextFile(path), (text) => text.endsWith("\n"), "a line");
  const { time: _time, duration_ms: _duration, client: _client, ...call } = JSON.parse(line);
  assertEquals(call, {
    credential: "token:asking",
    name: "asking",
    office: "lab",
    computer: "laptop",
    tool: "show",
    outcome: "error",
    code: 4005,
    reason: "unconfirmed",
  });
});

Deno.test("the activity log says why a call was not made: a code, but for what a tool tells of itself", async () => {
  using folder = new TempFolder();
  const path = join(folder.path, "activity.jsonl");
  await using hub = await TestHub.start(["--activity-log", path]);
  const computer = await hub.add("laptop");
  await using reader = await hub.connect("/mcp/o/lab", "read-only");
  await using other = await hub.connect("/mcp/o/lab", "no-laptop");
  await using searching = await hub.connect("/mcp/o/lab/search", "read-only");
  await untilOffered(reader, "show");
  await reader.callTool({ name: "show", arguments: { text: "hello" } });
  await other.callTool({ name: "echo", arguments: { text: "hello" } });
  await searching.callTool({ name: "call_tool", arguments: { name: "no_such_tool" } });
  await searching.callTool({ name: "call_read_tool", arguments: { name: "show" } });
  await using caller = await hub.connect("/mcp/o/lab", "lab-only");
  await caller.callTool({ name: "fail", arguments: {} });
  const { answer } = await beginCall(caller);
  for (const { id } of computer.calls.running) computer.calls.cancel(id);
  await answer;
  const lines = await eventually(
    async () => (await Deno.readTextFile(path)).split("\n").slice(0, -1),
    ({ length }) => length === 6,
    "six lines",
  );
  const told = lines.map((line) => JSON.parse(line))
    .map(({ tool, outcome, code, reason }) => [tool, outcome, code ?? reason]);
  assertEquals(told, [
    ["show", "error", 403],
    ["echo", "error", 4001],
    ["no_such_tool", "error", 4001],
    ["show", "error", 403],
    ["fail", "error", undefined],
    ["wait", "error", "cancelled"],
  ]);
});

Deno.test("a removed token ends what it has begun", async () => {
  await using hub = await TestHub.start();
  // Its session cannot be ended any more.
  const client = await hub.connect("/mcp/o/lab", "lab-only");
  await Deno.writeTextFile(hub.clientsFile, CLIENTS.replace("lab-only", "new-token"));
  const ask = () => client.listTools().then(() => "answered", String);
  assertStringIncludes(
    await eventually(ask, (text) => text !== "answered", "the end of the token"),
    "not good for this path",
  );
  assertEquals((await hub.initialize("/mcp/o/lab", bearer("new-token"))).status, 200);
  await client.close();
});

Deno.test("an open call is cut off with its token, and the audit trail says whose it was", async () => {
  await using hub = await TestHub.start();
  await hub.add("laptop");
  const client = await hub.connect("/mcp/o/lab", "lab-only");
  const { answer } = await beginCall(client);
  await Promise.all([
    assertRejects(() => within(answer, "the end of the call"), Error, "your access was removed"),
    Deno.writeTextFile(hub.clientsFile, CLIENTS.replace("lab-only", "new-token")),
  ]);
  await hub.door.program.said('cut off an MCP client reason="The token of \\"claude\\" was removed"');
  assertMatch(hub.door.program.stderr.text, /cut off .* client=token:claude path=\/mcp\/o\/lab address=127/);
  await client.close();
});

Deno.test("clients learn which Agent has the seat of their office, and the hub takes it when that one leaves", async () => {
  await using hub = await TestHub.start();
  const options = { url: hub.origin, office: "lab", token: "member", name: "somebody" };
  const holder = await Agent.connect(options);
  const refused = await hub.initialize("/mcp/o/lab", bearer("lab-only"));
  assertEquals(refused.status, 503);
  assertMatch(refused.text, /Agent \\"somebody\\" has its seat/);
  assertEquals((await holder.listOffice()).length, 1);
  await holder.close();
  const ask = async () => (await hub.initialize("/mcp/o/lab", bearer("lab-only"))).status;
  assertEquals(await eventually(ask, (status) => status !== 503, "the seat"), 200);
});

/** Calls a tool that answers once it is released, and returns when it runs. */
async function beginCall(client: Awaited<ReturnType<TestHub["connect"]>>) {
  await untilOffered(client, "wait");
  const begun = Promise.withResolvers<void>();
  const answer = client.callTool({ name: "wait", arguments: {} }, undefined, {
    onprogress: () => begun.resolve(),
  });
  await within(begun.promise, "the begin of the call");
  return { answer: Promise.resolve(answer) };
}

Deno.test("a hub that shuts down finishes calls that have begun, and takes no new call or session", async () => {
  await using hub = await TestHub.start(["--drain-timeout", "60s"]);
  const computer = await hub.add("laptop");
  // Their sessions end with the hub.
  const client = await hub.connect("/mcp/o/lab", "lab-only");
  const other = await hub.connect("/mcp/o/lab", "lab-only");
  const { answer } = await beginCall(client);
  hub.door.program.kill("SIGTERM");
  await hub.door.program.said("draining");
  const ready = await fetch(new URL("/readyz", hub.origin));
  assertEquals([ready.status, await ready.text()], [503, "A2C-SMCP Server: shutting down\n"]);
  const begun = await fetch(hub.door.at("/mcp/o/lab"), initializing(bearer("lab-only")));
  assertEquals([begun.status, begun.headers.get("retry-after")], [503, "1"]);
  assertStringIncludes(await begun.text(), "shuts down. Try again");
  await assertRejects(() => other.callTool({ name: "echo", arguments: { text: "hi" } }), Error, "shuts down");
  await computer.callTool("release", {});
  assertEquals((await within(answer, "the answer")).isError ?? false, false);
  assertEquals((await hub.door.program.end()).code, 0);
  await Promise.all([client.close(), other.close()]);
});

Deno.test("a hub that shuts down takes the answer to a question of a call, and answers the call", async () => {
  await using hub = await TestHub.start(["--drain-timeout", "60s"]);
  await hub.add("laptop");
  const client = new ClientV2({ name: "v2", version: "1" }, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  client.setRequestHandler("elicitation/create", async () => {
    hub.door.program.kill("SIGTERM");
    await hub.door.program.said("draining");
    return { action: "accept", content: { size: "small" } };
  });
  await client.connect(
    new HttpV2(hub.door.at("/mcp/o/lab"), { requestInit: { headers: bearer("lab-only") } }),
  );
  await untilOffered(client, "order");
  const { content } = await within(client.callTool({ name: "order", arguments: {} }), "the answer");
  assertStringIncludes(JSON.stringify(content), "ordered");
  assertEquals((await within(hub.door.program.end(), "the end of the hub")).code, 0);
  await client.close();
});

Deno.test("a call that takes longer than a hub waits is answered with an error", async () => {
  await using hub = await TestHub.start(["--drain-timeout", "1s"]);
  await hub.add("laptop");
  const client = await hub.connect("/mcp/o/lab", "lab-only");
  const { answer } = await beginCall(client);
  hub.door.program.kill("SIGTERM");
  const { isError, content } = await within(answer, "the answer");
  assertEquals(isError, true);
  assertMatch(JSON.stringify(content), /before the Server shut down; the tool may have run/);
  assertEquals((await hub.door.program.end()).code, 0);
  await client.close();
});

Deno.test("a hub tells clients without a token where to get one, of any office in the same way", async () => {
  await using hub = await TestHub.start(["--public-url", "https://hub.example.com"]);
  await hub.add("laptop");
  const metadata = await Promise.all(
    ["/mcp/o/lab", "/mcp/o/no%20such", "/mcp/o/l%61b"].map(async (path) => {
      const { headers, body } = await fetch(hub.door.at(path), { method: "POST" });
      await body?.cancel();
      const [, url = ""] = /resource_metadata="([^"]+)"/.exec(headers.get("www-authenticate") ?? "") ?? [];
      const read = await fetch(url.replace("https://hub.example.com", hub.origin));
      return [read.status, (await read.json()).resource];
    }),
  );
  assertEquals(metadata, [
    [200, "https://hub.example.com/mcp/o/lab"],
    [200, "https://hub.example.com/mcp/o/no%20such"],
    [200, "https://hub.example.com/mcp/o/lab"],
  ]);
  const server = await fetch(hub.door.at("/.well-known/oauth-authorization-server"));
  assertEquals((await server.json()).issuer, "https://hub.example.com");
});

Deno.test("a hub with TLS joins its offices, whoever has signed its certificate", async () => {
  using folder = new TempFolder();
  const { certFile, keyFile } = await makeCertificate(folder.path);
  await using hub = await TestHub.start(["--tls-cert", certFile, "--tls-key", keyFile]);
  // The certificate is for a name that nobody has told the hub.
  assertStringIncludes(hub.door.program.stderr.text, "give --public-url");
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(certFile)] });
  const url = new URL("/mcp/o/lab", hub.origin.replace("127.0.0.1", "localhost"));
  const begun = await fetch(url, { client, ...initializing(bearer("lab-only")) });
  assertStringIncludes(await begun.text(), "A2C-SMCP office");
  const ca = await Deno.readTextFile(certFile);
  const options = { url: url.origin, office: "lab", name: "ada", token: "member", observer: true, ca };
  await using member = await Agent.connect({ ...options, timeoutMs: 100_000 });
  assertEquals((await member.listOffice()).map(({ name }) => name), ["hub"]);
});

Deno.test("a hub that no client could use, or whose file of tokens has a slip, does not start", async () => {
  const permissions = ["--allow-net", "--allow-env", "--allow-read"];
  const without = await runDoor("hub.ts", ["--port", "0"], { permissions });
  assertEquals([without.code, /give --state-file FILE/.test(without.stderr)], [2, true]);
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, "t0ken name=ada roles=agent\n");
    const slip = await runHosted("hub.ts", ["--port", "0", "--mcp-token-file", file]);
    assertEquals(slip.code, 2);
    assertMatch(slip.stderr, /line 1 has an unknown attribute "roles"; known: .*rights/);
    await Deno.writeTextFile(file, "t0ken name=ada\n");
    const both = await runHosted("hub.ts", ["--port", "0", "--token-file", file, "--mcp-token-file", file]);
    assertEquals(both.code, 2);
    assertStringIncludes(both.stderr, "line 1 has a token of --token-file");
  } finally {
    await Deno.remove(file);
  }
});
