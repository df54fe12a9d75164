/** Attacker: members that leave messages behind: refused, held, cancelled or unanswered; a stranger after its refusal */
import { assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { sized } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import { POLLING, RawConnection } from "./_raw_http.ts";

const ROUNDS = sized({ reduced: 10, full: 50 });
/** Of these, a few are long enough to be passed on as bytes. */
const MESSAGES = 200;
const LONG = "x".repeat(300 * 1024);

const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const ada = { role: "agent", name: "ada", office_id: "lab" } as const;

/** A request; each 40th is long. */
function requestOf(index: number, computer: string): Record<string, unknown> {
  const text = index % 40 === 0 ? LONG : "short";
  return { agent: "ada", req_id: `r${index}`, computer, text };
}

/** Sends messages of every kind, and leaves without waiting for what is not answered. */
async function leaveBehind(url: string, round: number): Promise<void> {
  const session = `s${round}`;
  await using agent = await RawPeer.join(url, ada, { auth: { session } });
  // Who leaves the office gets no answer any more.
  const ask = (index: number, computer: string, event: string) =>
    agent.socket.emit(event, requestOf(index, computer), () => {});
  for (let index = 0; index < MESSAGES; index += 8) {
    ask(index, "laptop", "client:answer");
    ask(index + 1, "nobody", "client:answer");
    agent.socket.emit("client:never", requestOf(index, "laptop"), () => {});
    agent.socket.emit("client:never", requestOf(index + 2, "laptop"));
    agent.socket.emit("server:tool_call_cancel", { agent: "ada", req_id: `r${index}` });
    // What follows is held until the change of the membership is over.
    agent.socket.emit("server:leave_office", { office_id: "lab" }, () => {});
    agent.socket.emit("server:join_office", ada, () => {});
    ask(index + 80, "laptop", "client:answer");
  }
  await agent.settled();
  for (let index = 0; index < 4; index++) {
    agent.socket.emit("client:never", requestOf(40 * index, "laptop"), () => {});
  }
  if (round % 2 === 0) {
    // A newer connection takes its place, with requests in flight.
    await using newer = await RawPeer.join(url, ada, { auth: { session } });
    await newer.request("client:answer", requestOf(0, "laptop"));
  } else await agent.cut();
}

const METERS = ["a2c_message_memory_bytes", "a2c_requests_in_flight", "a2c_bytes_in_flight"];

async function readMeters(server: SmcpServer): Promise<readonly number[]> {
  const text = await server.metrics();
  return METERS.map((name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? NaN));
}

async function assertNothingLeft(server: SmcpServer): Promise<void> {
  const isNothing = (values: readonly number[]) => values.every((value) => value === 0);
  assertEquals(await eventually(() => readMeters(server), isNothing, "the memory to be free"), [0, 0, 0]);
}

Deno.test("after thousands of messages that were answered, refused, held, cancelled or left behind, none takes memory", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:answer", () => [{ text: LONG.slice(0, 1_000) }]);
  for (let round = 0; round < ROUNDS; round++) await leaveBehind(server.url, round);
  await assertNothingLeft(server);
});

Deno.test("A body that comes after the refusal of its request takes no memory when its connection has gone", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  const part = "x".repeat(64 * 1024);
  for (let round = 0; round < 5; round++) {
    await using stranger = new RawConnection(server.port);
    // Nobody opens a session so.
    stranger.write(
      `POST ${POLLING} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: 10000000\r\n\r\n`,
    );
    await stranger.until("the refusal", (text) => text.startsWith("HTTP/1.1 400"));
    for (let index = 0; index < 5; index++) stranger.write(part);
    await stranger.untilClosed();
  }
  await assertNothingLeft(server);
});
