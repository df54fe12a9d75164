/** What a client sends between its CONNECT and the Server's answer: some clients do not wait for it. */
import { assert, assertEquals } from "@std/assert";
import { type AuthDecision, type AuthProvider, SmcpServer } from "../../server.ts";
import {
  exchange,
  frame,
  openPolling,
  PING_FRAME,
  POLLING,
  PONG_FRAME,
  RawConnection,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "../attacks/_raw_http.ts";
import { eventually, within } from "../fixtures/within.ts";
import { type HastyPeer, TRANSPORTS } from "./_hasty_peer.ts";
import { RawPeer, RecordingLogger } from "./_socket.ts";

/** A provider that admits at once whoever shows `known`, and leaves all others to the test. */
class SlowProvider implements AuthProvider {
  readonly #asked = Promise.withResolvers<void>();
  readonly #decision = Promise.withResolvers<AuthDecision>();

  authenticate({ auth }: { readonly auth: Readonly<Record<string, unknown>> }) {
    if (auth["known"] === true) return { principal: "known" };
    this.#asked.resolve();
    return this.#decision.promise;
  }

  untilAsked(): Promise<void> {
    return within(this.#asked.promise, "a question to the provider");
  }

  decide(decision: AuthDecision): void {
    this.#decision.resolve(decision);
  }
}

const ADMITTED = { principal: "ada" };
const JOIN = '["server:join_office",{"role":"agent","name":"ada","office_id":"lab"}]';
const LIST = '["server:list_room",{"agent":"ada","req_id":"1","office_id":"lab"}]';

/** A Server whose provider decides when the test says so, and a peer that has sent its CONNECT. */
async function openDeciding(transport: string): Promise<Deciding> {
  const auth = new SlowProvider();
  const logger = new RecordingLogger();
  const server = await SmcpServer.listen({ port: 0, auth, logger });
  const peer = await TRANSPORTS[transport]?.(server.port);
  if (peer === undefined) throw new RangeError(`No transport "${transport}"`);
  await peer.send("0/smcp,{}");
  await auth.untilAsked();
  return {
    auth,
    logger,
    server,
    peer,
    async [Symbol.asyncDispose]() {
      auth.decide({ refused: "the test is over" });
      await peer[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

interface Deciding extends AsyncDisposable {
  readonly auth: SlowProvider;
  readonly logger: RecordingLogger;
  readonly server: SmcpServer;
  readonly peer: HastyPeer;
}

/** Why the Server has dropped connections. */
function dropsOf({ logger }: Deciding): readonly string[] {
  return logger.lines.map(({ message }) => message).filter((message) => message.startsWith("dropped"));
}

for (const transport of Object.keys(TRANSPORTS)) {
  Deno.test(`Events before the answer to CONNECT are answered in their order, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth } = deciding;
    await peer.send(`2/smcp,1${JOIN}`);
    await peer.send(`2/smcp,2${LIST}`, '2/smcp,3["server:nothing",{}]');
    auth.decide(ADMITTED);
    await peer.until("43/smcp,3[");
    await peer.send(`2/smcp,4${LIST}`);
    const received = await peer.until("43/smcp,4[");
    const order = [...received.matchAll(/40\/smcp,|43\/smcp,\d/g)].map(String);
    assertEquals(order, ["40/smcp,", "43/smcp,1", "43/smcp,2", "43/smcp,3", "43/smcp,4"]);
    assert(received.includes("43/smcp,1[true,null]"));
    assert(/43\/smcp,2\[.*"name":"ada"/.test(received));
  });

  Deno.test(`Events in one piece with CONNECT are answered, over ${transport}`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using peer = await openOver(transport, server);
    await peer.send("0/smcp,", `2/smcp,1${JOIN}`, `2/smcp,2${LIST}`);
    assert((await peer.until("43/smcp,2[")).includes("43/smcp,1[true,null]"));
  });

  Deno.test(`Attachments before the answer to CONNECT reach the Computer, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth, server } = deciding;
    await using laptop = await RawPeer.join(server.url, {
      role: "computer",
      name: "laptop",
      office_id: "lab",
    }, { auth: { known: true } });
    laptop.serve("client:x", (body) => [body]);
    const head = '{"agent":"ada","req_id":"1","computer":"laptop"';
    const placeholders = '"a":{"_placeholder":true,"num":0},"b":{"_placeholder":true,"num":1}';
    await peer.send(`2/smcp,1${JOIN}`);
    await peer.send(
      `52-/smcp,2["client:x",${head},${placeholders}}]`,
      Uint8Array.of(1, 2, 3),
      Uint8Array.of(65, 66, 67),
    );
    auth.decide(ADMITTED);
    await peer.until("62-/smcp,2[");
    await peer.until(transport === "polling" ? "bQUJD" : "ABC");
    await peer.send(`2/smcp,3${LIST}`);
    await peer.until("43/smcp,3[");
  });

  Deno.test(`Events before a refusal are never handled, and its reason is read, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth, server } = deciding;
    await using agent = await RawPeer.connect(server.url, { auth: { known: true } });
    await peer.send(`2/smcp,1${JOIN}`);
    auth.decide({ refused: "not today" });
    await peer.until("not today");
    await peer.sendLast(`2/smcp,2${JOIN}`);
    assert(!(await peer.untilClosed()).includes("43/smcp"));
    assertEquals(dropsOf(deciding), []);
    const join = await agent.request("server:join_office", { role: "agent", name: "ada", office_id: "lab" });
    assertEquals(join, [true, null]);
  });

  Deno.test(`More than 64 packets before the answer to CONNECT end the connection, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    await deciding.peer.send(...Array.from({ length: 60 }, (_, id) => `2/smcp,${id}${LIST}`));
    await deciding.peer.sendLast(...Array.from({ length: 4 }, (_, id) => `2/smcp,${60 + id}${LIST}`));
    await deciding.peer.untilClosed();
    assertEquals(dropsOf(deciding), ["dropped a connection: it sent too many packets"]);
  });

  Deno.test(`8 KiB before the answer to CONNECT end the connection, however they come, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const event = (size: number) => `2/smcp,["x",{"text":"${"x".repeat(size)}"}]`;
    await deciding.peer.send(event(4_000));
    await deciding.peer.send(event(4_000));
    await deciding.peer.sendLast(event(300));
    await deciding.peer.untilClosed();
    assertEquals(dropsOf(deciding), ["dropped a connection: it sent too much before it was admitted"]);
  });

  Deno.test(`A second CONNECT before the answer to the first ends the connection, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    await deciding.peer.send(`2/smcp,1${JOIN}`);
    await deciding.peer.sendLast("0/smcp,{}");
    await deciding.peer.untilClosed();
    assertEquals(dropsOf(deciding), ["dropped a connection: it sent a second CONNECT packet"]);
  });

  Deno.test(`An event before CONNECT ends the connection, over ${transport}`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using peer = await openOver(transport, server);
    await peer.sendLast(`2/smcp,1${JOIN}`, "0/smcp,");
    assert(!(await peer.untilClosed()).includes("/smcp"));
  });

  Deno.test(`DISCONNECT before the answer to CONNECT ends the connection after it, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth, server } = deciding;
    await peer.send(`2/smcp,1${JOIN}`, "1/smcp,");
    auth.decide(ADMITTED);
    await peer.untilClosed();
    const lab = { role: "agent", name: "eve", office_id: "lab" } as const;
    await using _agent = await RawPeer.join(server.url, lab, { auth: { known: true } });
  });

  Deno.test(`Of a connection that is gone before the answer to CONNECT nothing is handled, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth, server, logger } = deciding;
    await peer.send(`2/smcp,1${JOIN}`);
    await peer[Symbol.asyncDispose]();
    auth.decide(ADMITTED);
    const lab = { role: "agent", name: "eve", office_id: "lab" } as const;
    // The Server may be admitting it before it notices that it is gone.
    const join = () => RawPeer.join(server.url, lab, { auth: { known: true } }).catch(() => undefined);
    await using _agent = await eventually(join, (peer) => peer !== undefined, "the seat to be free");
    assertEquals(logger.lines.filter(({ level }) => level === "error"), []);
  });

  Deno.test(`A malformed event before the answer to CONNECT ends the connection when it is admitted, over ${transport}`, async () => {
    await using deciding = await openDeciding(transport);
    const { peer, auth } = deciding;
    await peer.send(`2/smcp,1${JOIN}`, "2/smcp,2{", `2/smcp,3${LIST}`);
    auth.decide(ADMITTED);
    assert(!(await peer.untilClosed()).includes("43/smcp,3"));
  });
}

async function openOver(transport: string, { port }: SmcpServer): Promise<HastyPeer> {
  const peer = await TRANSPORTS[transport]?.(port);
  if (peer === undefined) throw new RangeError(`No transport "${transport}"`);
  return peer;
}

Deno.test("Events over polling and, after an upgrade, over the websocket are answered in their order", async () => {
  const auth = new SlowProvider();
  await using server = await SmcpServer.listen({ port: 0, auth });
  const { port } = server;
  const sid = await openPolling(port);
  const target = `${POLLING}&sid=${sid}`;
  const body = `40/smcp,{}\x1e42/smcp,1${JOIN}`;
  assertEquals((await exchange(port, { method: "POST", target, body })).status, 200);
  await auth.untilAsked();
  await using websocket = new RawConnection(port);
  websocket.write(toText(port, { target: `${WEBSOCKET}&sid=${sid}`, headers: UPGRADE_HEADERS }));
  await websocket.until("websocket", (text) => text.includes("101 "));
  websocket.write(frame("2probe"));
  await websocket.until("probe", (text) => text.includes("3probe"));
  websocket.write(frame("5"));
  websocket.write(frame(`42/smcp,2${LIST}`));
  websocket.write(PING_FRAME);
  await websocket.until("pong", (text) => text.includes(PONG_FRAME));
  auth.decide(ADMITTED);
  const received = await websocket.until("answer", (text) => text.includes("43/smcp,2["));
  assertEquals([...received.matchAll(/43\/smcp,\d/g)].map(String), ["43/smcp,1", "43/smcp,2"]);
});
