import { assert, assertEquals, assertMatch } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { isRecord } from "../../src/json/json.ts";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { eventually } from "../fixtures/within.ts";
import { type Membership, RawPeer } from "./_socket.ts";

let redis: RedisServer | undefined;
let prefixes = 0;

Deno.test.beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
Deno.test.afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
});

const agent = (name: string, office = "lab"): Membership => ({ role: "agent", name, office_id: office });
const computer = (name: string, office = "lab"): Membership => ({
  role: "computer",
  name,
  office_id: office,
});
const call = (reqId: string, rest: Readonly<Record<string, unknown>> = {}) => ({
  agent: "ada",
  req_id: reqId,
  computer: "laptop",
  tool_name: "echo",
  params: {},
  ...rest,
});

function bytesOf(value: unknown): readonly number[] | undefined {
  return value instanceof Uint8Array ? [...value] : undefined;
}

/** Servers that share a Redis, as processes do. */
class Processes implements AsyncDisposable {
  readonly servers: readonly SmcpServer[];

  private constructor(servers: readonly SmcpServer[]) {
    this.servers = servers;
  }

  static async start(count = 2, options: { readonly maxOpenRequests?: number } = {}): Promise<Processes> {
    const prefix = `p${prefixes++}`;
    const servers = await Promise.all(Array.from({ length: count }, () =>
      SmcpServer.listen({
        port: 0,
        redis: { url: redis?.url ?? "", prefix, heartbeatMs: 5_000, leaseMs: 10_000 },
        ...options,
      })));
    return new Processes(servers);
  }

  url(index: number): string {
    const server = this.servers[index];
    assert(server !== undefined);
    return server.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
  }
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasRedis, fn });
}

test("an Agent calls a Computer of another process, and the answer comes back unchanged", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  const answer = { content: [{ type: "text", text: "é\n\u2028 ✓" }], isError: false, big: 12345678901234567 };
  const asked: unknown[] = [];
  laptop.serve("client:tool_call", (body) => {
    asked.push(body);
    return [answer];
  });
  const request = call("1", { params: { text: 'a"b\n', nested: [[1], { x: null }] }, unknown_field: true });
  assertEquals(await ada.request("client:tool_call", request), [answer]);
  assertEquals(asked, [request]);
});

test("an Agent that has just been notified of a Computer of another process can call it", async () => {
  await using processes = await Processes.start(3);
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  for (let round = 0; round < 20; round++) {
    const laptop = await RawPeer.connect(processes.url(1 + round % 2));
    laptop.serve("client:get_tools", () => [{ tools: [], req_id: "t" }]);
    const joined = laptop.request("server:join_office", computer("laptop"));
    await ada.next("notify:enter_office");
    const answer = await ada.request("client:get_tools", { agent: "ada", req_id: "t", computer: "laptop" });
    assertEquals(answer, [{ tools: [], req_id: "t" }]);
    assertEquals(await joined, [true, null]);
    await laptop[Symbol.asyncDispose]();
    await ada.next("notify:leave_office");
  }
});

test("large requests and answers reach another process and come back unchanged", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  laptop.serve("client:tool_call", (body) => [{ echoed: body }]);
  // Plain characters, characters of several bytes, and many members: the Server has a way for each.
  const texts = [
    "x".repeat(2_000_000),
    "é✓😀\n".repeat(300_000),
    Array.from({ length: 50_000 }, (_, i) => ({ i })),
  ];
  for (const [number, text] of texts.entries()) {
    const request = call(`${number}`, { params: { text } });
    assertEquals(await ada.request("client:tool_call", request), [{ echoed: request }]);
  }
});

test("more large requests and answers at once than Redis keeps for a process all arrive", async () => {
  const limit = (bytes: number) =>
    redis?.run("CONFIG", "SET", "client-output-buffer-limit", `pubsub ${bytes} 0 0`);
  // One of these messages and a half.
  await limit(12_000_000);
  await using _ = { [Symbol.asyncDispose]: async () => void await limit(0) };
  await using processes = await Processes.start();
  await using peers = new AsyncDisposableStack();
  const text = "x".repeat(8_000_000);
  // An office each: a single peer would read too slowly for so much.
  const agents = await Promise.all(Array.from({ length: 5 }, async (_, i) => {
    const laptop = peers.use(await RawPeer.join(processes.url(1), computer("laptop", `office ${i}`)));
    laptop.serve("client:tool_call", () => [{ text }]);
    return peers.use(await RawPeer.join(processes.url(0), agent("ada", `office ${i}`)));
  }));
  const request = call("1", { params: { text } });
  const answers = await Promise.all(agents.map((ada) => ada.request("client:tool_call", request)));
  const seen = answers.map(([answer]) =>
    isRecord(answer) && answer["text"] === text ? "whole" : JSON.stringify(answer).slice(0, 500)
  );
  assertEquals(seen, Array(5).fill("whole"));
});

test("attachments reach a Computer of another process and come back", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  laptop.serve("client:tool_call", (body) => [{ echoed: body, more: Uint8Array.of(1, 2) }]);
  const request = call("1", { params: { picture: Uint8Array.of(0, 255, 128) } });
  const [answer] = await ada.request("client:tool_call", request);
  assert(isRecord(answer) && isRecord(answer["echoed"]) && isRecord(answer["echoed"]["params"]));
  assertEquals(bytesOf(answer["more"]), [1, 2]);
  assertEquals(bytesOf(answer["echoed"]["params"]["picture"]), [0, 255, 128]);
});

test("members see those of other processes come, change and go", async () => {
  await using processes = await Processes.start(3);
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  assertEquals(await ada.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
  const phone = await RawPeer.join(processes.url(2), computer("phone"));
  for (const peer of [ada, laptop]) {
    const entered = peer === ada
      ? await ada.next("notify:enter_office")
      : await laptop.next("notify:enter_office");
    assertEquals(entered, { office_id: "lab", computer: "phone" });
  }
  await phone.request("server:update_tool_list", { computer: "someone else" });
  for (const peer of [ada, laptop]) {
    assertEquals(await peer.next("notify:update_tool_list"), { computer: "phone" });
  }
  const [listed] = await ada.request("server:list_room", { agent: "ada", req_id: "l", office_id: "lab" });
  assertMatch(JSON.stringify(listed), /ada.*laptop.*phone/);
  await phone[Symbol.asyncDispose]();
  for (const peer of [ada, laptop]) {
    assertEquals(await peer.next("notify:leave_office"), { office_id: "lab", computer: "phone" });
  }
});

test("a member of another process is refused, called and notified in its own office only", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop", "den"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  const [answer] = await ada.request("client:tool_call", call("1"));
  assertMatch(JSON.stringify(answer), /"code":404/);
  await using second = await RawPeer.connect(processes.url(1));
  assertMatch(
    String((await second.request("server:join_office", agent("bob"))).at(1)),
    /already has an agent/,
  );
  await ada.request("server:tool_call_cancel", { agent: "ada", req_id: "1" });
  await using desk = await RawPeer.join(processes.url(1), computer("desk"));
  await ada.next("notify:enter_office");
  await ada.request("server:tool_call_cancel", { agent: "ada", req_id: "2" });
  assertEquals(await desk.next("notify:tool_call_cancel"), { agent: "ada", req_id: "2" });
  assertEquals(await laptop.settled(), []);
});

test("a Computer of another process that leaves ends the requests to it with 404", async () => {
  await using processes = await Processes.start();
  const laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  const reached = laptop.nextRequest("client:tool_call");
  const answered = ada.request("client:tool_call", call("1"));
  await reached;
  await laptop[Symbol.asyncDispose]();
  assertMatch(JSON.stringify(await answered), /"code":404.*in flight/);
});

test("an Agent that leaves cancels its requests to Computers of other processes", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  const ada = await RawPeer.join(processes.url(0), agent("ada"));
  const reached = laptop.nextRequest("client:tool_call");
  ada.socket.emit("client:tool_call", call("1"), () => {});
  await reached;
  await ada[Symbol.asyncDispose]();
  assertEquals(await laptop.next("notify:tool_call_cancel"), { agent: "ada", req_id: "1" });
});

test("a Computer of another process that does not answer is a 408", async () => {
  await using processes = await Processes.start();
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  laptop.serve("client:tool_call", () => new Promise(() => {}));
  // The Server adds its grace of 5 seconds.
  assertMatch(
    JSON.stringify(await ada.request("client:tool_call", call("1", { timeout: 0.1 }))),
    /"code":408/,
  );
});

test("requests in flight to other processes are bounded like all others", async () => {
  await using processes = await Processes.start(2, { maxOpenRequests: 4 });
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  await using eve = await RawPeer.connect(processes.url(0), { auth: { observer: true } });
  assertEquals((await eve.request("server:join_office", agent("eve")))[0], true);
  const answers: ((answer: unknown[]) => void)[] = [];
  laptop.serve("client:tool_call", () => new Promise((resolve) => void answers.push(resolve)));
  laptop.serve("client:get_tools", () => new Promise((resolve) => void answers.push(resolve)));
  const waiting = Array.from({ length: 4 }, (_, i) => ada.request("client:tool_call", call(`${i}`)));
  assertMatch(JSON.stringify(await ada.request("client:tool_call", call("5"))), /"code":400/);
  const read = (id: string) =>
    eve.request("client:get_tools", { agent: "eve", req_id: id, computer: "laptop" });
  waiting.push(read("a"));
  assertMatch(JSON.stringify(await read("b")), /"code":400/);
  await eventually(() => answers.length, (count) => count === 5, "five requests at the Computer");
  for (const answer of answers) answer([{ done: true }]);
  assertEquals(await Promise.all(waiting), Array.from({ length: 5 }, () => [{ done: true }]));
  laptop.socket.off("client:tool_call");
  laptop.serve("client:tool_call", () => [{ again: true }]);
  assertEquals(await ada.request("client:tool_call", call("6")), [{ again: true }]);
});

test("a request costs two messages, whatever the number of processes", async () => {
  await using processes = await Processes.start(4);
  await using laptop = await RawPeer.join(processes.url(1), computer("laptop"));
  await using _desk = await RawPeer.join(processes.url(2), computer("desk"));
  await using ada = await RawPeer.join(processes.url(0), agent("ada"));
  laptop.serve("client:tool_call", () => [{}]);
  await ada.request("client:tool_call", call("0"));
  const published = async () => {
    const [, calls] = /cmdstat_publish:calls=(\d+)/.exec(await redis?.run("INFO", "commandstats") ?? "") ??
      [];
    return Number(calls);
  };
  const before = await published();
  for (let i = 1; i <= 10; i++) await ada.request("client:tool_call", call(`${i}`));
  assertEquals(await published() - before, 20);
});

test("a member that reconnects to another process takes its own place, and the old connection is told", async () => {
  await using processes = await Processes.start();
  const auth = { session: "same" };
  const old = await RawPeer.join(processes.url(0), agent("ada"), { auth });
  await using laptop = await RawPeer.join(processes.url(0), computer("laptop"));
  await using back = await RawPeer.join(processes.url(1), agent("ada"), { auth });
  assertMatch(JSON.stringify(await old.next("notify:connection_closing")), /session_replaced/);
  await old.disconnected;
  laptop.serve("client:tool_call", () => [{ done: true }]);
  assertEquals(await back.request("client:tool_call", call("1")), [{ done: true }]);
  await old[Symbol.asyncDispose]();
});

test("a process whose lease has ended lists no office", async () => {
  await using wire = new TcpProxy(redis?.port ?? 0);
  const url = `redis://127.0.0.1:${wire.port}`;
  await using server = await SmcpServer.listen({
    port: 0,
    redis: { url, prefix: `p${prefixes++}`, heartbeatMs: 500, leaseMs: 3_000 },
  });
  await using ada = await RawPeer.connect(server.url);
  const join = () => ada.request("server:join_office", agent("ada"));
  await eventually(join, ([isJoined]) => isJoined === true, "the first lease");
  const list = async () => {
    const [answer] = await ada.request("server:list_room", { agent: "ada", req_id: "l", office_id: "lab" });
    return isRecord(answer) ? answer["code"] ?? "listed" : answer;
  };
  await eventually(list, (code) => code === "listed", "the members");
  wire.interrupt();
  await eventually(list, (code) => code === 503, "the end of the lease");
  wire.restore();
  await eventually(list, (code) => code === "listed", "the next lease");
});

test("many members join one office through all processes at once, and one Agent gets in", async () => {
  await using processes = await Processes.start(3);
  const peers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => RawPeer.connect(processes.url(i % 3))),
  );
  const joins = peers.map((peer, i) =>
    peer.request("server:join_office", i % 2 === 0 ? agent(`a${i}`) : computer(`c${i % 20}`))
  );
  const outcomes = await Promise.all(joins);
  const accepted = (wanted: (i: number) => boolean) =>
    outcomes.filter(([ok], i) => ok === true && wanted(i)).length;
  assertEquals(accepted((i) => i % 2 === 0), 1);
  assertEquals(accepted((i) => i % 2 === 1), 10);
  await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()));
  const keys = () => redis?.run("KEYS", `p${prefixes - 1}:0:{*`) ?? Promise.resolve("");
  await eventually(keys, (found) => found === "", "no office in Redis");
});
