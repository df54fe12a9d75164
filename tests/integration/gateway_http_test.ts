/** The gateway as a program over HTTP, with the official clients of both eras, several at once. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { startWords } from "../fixtures/hosted_door.ts";
import { connectV1, connectV2, HttpDoor } from "../fixtures/http_door.ts";
import { KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { within } from "../fixtures/within.ts";
import { GatewayOffice } from "./_gateway_office.ts";

const KIOSK = { servers: { kiosk: kioskOnStdio() } };

function startGateway(office: GatewayOffice, args: readonly string[] = ["--no-token"]): Promise<HttpDoor> {
  return HttpDoor.start(office.words(["--http", "0", ...args]));
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

Deno.test("serves several clients of both eras at once, each with a session of its own", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using gateway = await startGateway(office);
  await using first = await connectV1(gateway.url);
  await using second = await connectV1(gateway.url);
  await using modern = await connectV2(gateway.url);
  assertEquals(modern.getNegotiatedProtocolVersion(), "2026-07-28");
  const calls = [first, second, modern].map(async (client, index) => {
    const text = `call ${index}`;
    const { content } = await client.callTool({ name: "echo", arguments: { text } });
    assertEquals(content, [{ type: "text", text }]);
    assertEquals(namesOf(await client.listTools()).includes("echo"), true);
  });
  await Promise.all(calls);
});

/** Asks in the revision of 2025, at `/mcp/`, as a client without a library does. */
class RawClient {
  readonly #url: URL;
  #session: Record<string, string> = {};

  constructor(url: URL) {
    this.#url = url;
  }

  async ask(
    accept: string | undefined,
    method: string,
    params: unknown,
  ): Promise<{ type: string; text: string }> {
    const response = await fetch(`${this.#url}/`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(accept === undefined ? {} : { accept }),
        ...this.#session,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const id = response.headers.get("mcp-session-id");
    if (id !== null) this.#session = { "mcp-session-id": id };
    assertEquals(response.status, 200);
    return { type: response.headers.get("content-type") ?? "", text: await response.text() };
  }
}

Deno.test("answers in the form that a client accepts, and in JSON where it accepts both", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using gateway = await startGateway(office);
  const raw = new RawClient(gateway.url);
  const hello = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  assertEquals((await raw.ask(undefined, "initialize", hello)).type, "application/json");
  const echo = (accept: string, text: string) =>
    raw.ask(accept, "tools/call", { name: "echo", arguments: { text } });
  const long = "x".repeat(1_100_000);
  const answers = [
    ["*/*", "hi", "application/json"],
    ["application/json", "hi", "application/json"],
    ["application/*", "hi", "application/json"],
    ["text/event-stream", "hi", "text/event-stream"],
    ["application/json, text/event-stream", long, "application/json"],
    ["*/*", long, "application/json"],
  ] as const;
  for (const [accept, text, type] of answers) {
    const answer = await echo(accept, text);
    assertEquals([answer.type, answer.text.includes(`"text":"${text}"`)], [type, true]);
  }
  assertEquals((await echo("text/event-stream", long)).text.length < 900_000, true);
  assertEquals(gateway.program.stderr.text.includes("request.signal"), false);
});

Deno.test("delivers progress, changed resources and changed lists over HTTP, in both eras", async (t) => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using gateway = await startGateway(office);
  await t.step("2025-11-25", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    const updated = Promise.withResolvers<string>();
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }: { params: { uri: string } }) => updated.resolve(params.uri),
    );
    await using _ = await connectV1(gateway.url, { client });
    await client.subscribeResource({ uri: KIOSK_WINDOW });
    await client.callTool({ name: "show", arguments: { text: "first" } });
    assertEquals(await within(updated.promise, "the update of the window"), KIOSK_WINDOW);
    const progress: unknown[] = [];
    const onprogress = (update: { progress: number }) => void progress.push(update.progress);
    await client.callTool({ name: "brew", arguments: { steps: 3 } }, undefined, { onprogress });
    assertEquals(progress.length > 0, true);
  });
  await t.step("2026-07-28", async () => {
    const client = new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const updated = Promise.withResolvers<string>();
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => updated.resolve(params.uri),
    );
    client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
    await using _ = await connectV2(gateway.url, client);
    const stream = await client.listen({ resourceSubscriptions: [KIOSK_WINDOW], toolsListChanged: true });
    await client.callTool({ name: "show", arguments: { text: "second" } });
    assertEquals(await within(updated.promise, "the update of the window"), KIOSK_WINDOW);
    await client.callTool({ name: "add_special", arguments: {} });
    await within(changed.promise, "the changed list of tools");
    await stream.close();
  });
});

Deno.test("serves one Computer at a path of its own, also before it is there", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using gateway = await startGateway(office);
  await using laptop = await connectV1(gateway.at("/mcp/c/laptop"));
  // Once its tools have names, the desk cannot change them.
  const names = namesOf(await laptop.listTools());
  await office.add("desk", { servers: { kiosk: kioskOnStdio() } });
  assertEquals(names.includes("echo"), true);
  await using everything = await connectV1(gateway.url);
  // The gateway hears of the desk some time after it has joined.
  while (!namesOf(await everything.listTools()).includes("desk__echo"));
  assertEquals(namesOf(await laptop.listTools()), names);
  const result = await laptop.callTool({ name: "desk__echo", arguments: { text: "no" } });
  assertEquals(result.isError, true);
  await using nobody = await connectV1(gateway.at("/mcp/c/no%20body"));
  assertEquals(namesOf(await nobody.listTools()).includes("echo"), false);
  assertMatch(nobody.getInstructions() ?? "", /No Computer named "no body" \(Computers: desk, laptop\)/);
});

Deno.test("refuses whoever has no token, and unknown paths and sessions, and says why", async () => {
  await using office = await GatewayOffice.open({});
  await using gateway = await startGateway(office, ["--http-token", "s3cret"]);
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  };
  const ask = async (url: URL, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(initialize),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const bearer = { authorization: "Bearer s3cret" };
  const without = await ask(gateway.url);
  assertEquals([without.status, without.headers.get("www-authenticate")], [401, 'Bearer realm="a2c-smcp"']);
  assertMatch((await ask(gateway.url, { authorization: "Bearer wrong" })).text, /bearer token is wrong/);
  assertEquals((await ask(gateway.url, bearer)).status, 200);
  assertEquals((await ask(gateway.url, { ...bearer, origin: "https://evil.example" })).status, 403);
  assertEquals((await ask(gateway.url, { ...bearer, origin: "http://localhost:5173" })).status, 200);
  const lost = await ask(gateway.url, { ...bearer, "mcp-session-id": crypto.randomUUID() });
  assertEquals([lost.status, /Initialize again/.test(lost.text)], [404, true]);
  const elsewhere = await ask(gateway.at("/elsewhere"), bearer);
  assertEquals([elsewhere.status, /there are \/mcp/.test(elsewhere.text)], [404, true]);
  const health = await fetch(gateway.at("/healthz"));
  assertEquals([health.status, await health.text()], [200, "ok\n"]);
  await assertRejects(() => connectV1(gateway.url));
  await using _ = await connectV1(gateway.url, { headers: bearer });
});

Deno.test("does not listen for other machines without a token", async () => {
  await using office = await GatewayOffice.open({});
  await using program = startWords(office.words(["--http", "0.0.0.0:0", "--no-token"]));
  const { code, stderr } = await program.end();
  assertEquals(code, 2);
  assertMatch(stderr, /with --no-token: other machines could use the office/);
});
