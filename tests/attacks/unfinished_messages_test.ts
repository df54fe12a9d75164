/** Attacker: the holder of one token, or one machine. It fills the memory for messages with ones that it does not finish */
import { assertEquals } from "@std/assert";
import { type Credentials, SmcpServer } from "../../server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import {
  concat,
  exchange,
  frame,
  frameHead,
  openPolling,
  PING_FRAME,
  POLLING,
  RawConnection,
} from "./_raw_http.ts";
import { RawMember } from "./_raw_member.ts";

const MIB = 1024 * 1024;
/** Room for four messages of the largest size, one for each principal. */
const BOUNDS = { maxPayloadBytes: 8 * MIB, maxMessageMemoryBytes: 32 * MIB };
const MANY = 4;
/** The share of one principal. */
const SHARE = 8 * MIB;
/** One of several attachments of a message. */
const ATTACHMENT = new Uint8Array(3 * MIB);
/** The most that fits of an unfinished message. */
const UNFINISHED = new Uint8Array(7 * MIB).fill(0x34);
const LARGE = "x".repeat(7 * MIB);

const auth = { authenticate: ({ auth }: Credentials) => ({ principal: `user ${auth["user"]}` }) };
const eve = { user: "eve" };
const ada = { user: "ada" };

/** Calls a Computer as another principal with a large message. */
async function callAsAda(server: SmcpServer): Promise<unknown> {
  const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
  await using computer = await RawPeer.join(server.url, laptop, { auth: ada });
  computer.serve("client:echo", () => [{ ok: true }]);
  const member = { role: "agent", name: "ada", office_id: "lab" } as const;
  await using agent = await RawPeer.join(server.url, member, { auth: ada });
  const body = { agent: "ada", req_id: "r", computer: "laptop", text: LARGE };
  const [answer] = await agent.request("client:echo", body);
  return answer;
}

Deno.test("the WebSockets of one principal fill no more than its share, and the large messages of others pass", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth, ...BOUNDS });
  using members = new DisposableStack();
  for (let index = 0; index < MANY; index++) {
    const computer = { role: "computer", name: `c${index}`, office_id: "crowd" } as const;
    const member = members.use(await RawMember.join(server, computer, eve));
    await member.sendBytes(frameHead(UNFINISHED.length, { isWhole: false }));
    const sent = member.sendBytes(UNFINISHED).then(() => member.sendBytes(PING_FRAME));
    // Whoever finds no room is skipped, or closed.
    await Promise.allSettled([sent, within(member.untilPongOrEnd(), "the frame to be read")]);
  }
  assertEquals(await callAsAda(server), { ok: true });
});

Deno.test("attachments that one principal leaves out take no more than its share, and are freed when it goes", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true, auth, ...BOUNDS });
  {
    using members = new DisposableStack();
    for (let index = 0; index < MANY; index++) {
      const computer = { role: "computer", name: `c${index}`, office_id: "crowd" } as const;
      const member = members.use(await RawMember.join(server, computer, eve));
      await member.send(`452-/smcp,["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]`);
      const attachment = frame(ATTACHMENT, { opcode: 2 });
      const sent = member.sendBytes(attachment).then(() => member.sendBytes(PING_FRAME));
      // Whoever finds no room is closed.
      await Promise.allSettled([sent, within(member.untilPongOrEnd(), "the frame to be read")]);
    }
    const bytes = await readMemory(server);
    assertEquals([bytes > ATTACHMENT.length, bytes <= SHARE], [true, true], `${bytes} bytes`);
    assertEquals(await callAsAda(server), { ok: true });
  }
  await eventually(() => readMemory(server), (bytes) => bytes === 0, "the memory to be free");
});

Deno.test("who is disconnected and sends on fills no memory", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true, auth, ...BOUNDS });
  using members = new DisposableStack();
  const joining = Array.from({ length: MANY }, (_, index) => {
    const computer = { role: "computer", name: `c${index}`, office_id: "crowd" } as const;
    return RawMember.join(server, computer, eve);
  });
  const unfinished = concat([frameHead(UNFINISHED.length, { isWhole: false }), UNFINISHED]);
  const sent = (await Promise.all(joining)).map(async (joined) => {
    const member = members.use(joined);
    await member.send("4?");
    await member.sendBytes(unfinished);
  });
  // Whoever finds no room is skipped until its connection has ended, or closed at once.
  await within(Promise.allSettled(sent), "the frames to be sent");
  const bytes = await readMemory(server);
  assertEquals(bytes <= SHARE, true, `${bytes} bytes`);
  assertEquals(await callAsAda(server), { ok: true });
});

/** Opens a session over polling, and resolves to the target of its requests. What it opens ends with `opened`. */
async function openSession(
  { server, opened }: { readonly server: SmcpServer; readonly opened: AsyncDisposableStack },
  user: Readonly<Record<string, string>>,
): Promise<string> {
  const target = `${POLLING}&sid=${await openPolling(server.port)}`;
  await exchange(server.port, { method: "POST", target, body: `40/smcp,${JSON.stringify(user)}` });
  await exchange(server.port, { target });
  // Without a poll, Engine.IO waits 30 seconds before it closes the session.
  const poll = opened.use(new RawConnection(server.port));
  poll.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
  return target;
}

/** Begins a POST of a member, and resolves to its TCP connection. */
async function beginBody(world: Parameters<typeof openSession>[0], headers: string): Promise<RawConnection> {
  const { server, opened } = world;
  const target = await openSession(world, eve);
  const connection = opened.use(new RawConnection(server.port));
  connection.write(`POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${headers}\r\n\r\n`);
  return connection;
}

async function readMemory(server: SmcpServer): Promise<number> {
  return Number(/^a2c_message_memory_bytes (\S+)$/m.exec(await server.metrics())?.[1] ?? NaN);
}

Deno.test("polling: the bodies of one principal fill no more than its share: 413, or the end where no length was told", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true, auth, ...BOUNDS });
  await using opened = new AsyncDisposableStack();
  const world = { server, opened };
  const heads: string[] = [];
  for (let index = 0; index < MANY; index++) {
    const body = await beginBody(world, `Content-Length: ${8 * MIB}`);
    body.write(UNFINISHED);
    const isRead = async () => body.received !== "" || await readMemory(server) > 7 * MIB * (index + 1) - 1;
    await eventually(isRead, (is) => is, "the body to be read or refused");
    heads.push(body.received.slice(0, 12));
    if (index === 1) await body.until("the reason", (text) => text.includes("maxMessageMemoryBytes"));
  }
  assertEquals(heads, ["", ...Array(MANY - 1).fill("HTTP/1.1 413")]);
  const unannounced = await beginBody(world, "Transfer-Encoding: chunked");
  unannounced.write(`${UNFINISHED.length.toString(16)}\r\n`);
  unannounced.write(UNFINISHED);
  await unannounced.untilClosed();
  const target = await openSession(world, ada);
  const body = `42/smcp,["client:echo",{"text":"${LARGE}"}]`;
  assertEquals((await exchange(server.port, { method: "POST", target, body })).status, 200);
});
