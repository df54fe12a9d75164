/** Attacker: an admitted member. Its messages hold millions of values, which take the Server seconds to read and write. */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import { exchange, openPolling, POLLING } from "./_raw_http.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const MIB = 1024 * 1024;
/** Leaves room for the rest of a message of the largest size. */
const LARGEST = 16 * MIB - 1024;

/** JSON texts that cost far more than their bytes tell. */
const DENSE: Readonly<Record<string, () => string>> = {
  "lists beside lists": () => `[${"[],".repeat(LARGEST / 3 - 1)}[]]`,
  "lists in lists": () => "[".repeat(LARGEST / 2) + "]".repeat(LARGEST / 2),
  "short lists in lists": () => `[${Array(40_000).fill("[".repeat(150) + "]".repeat(150)).join(",")}]`,
  "objects": () => `[${"{},".repeat(LARGEST / 3 - 1)}{}]`,
  "numbers": () => `[${"1,".repeat(LARGEST / 2 - 2)}1]`,
  "different names": () => `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
  "different short texts": () =>
    `[${Array.from({ length: 1_000_000 }, (_, index) => `"t${index}"`).join(",")}]`,
  "escapes": () => `"${"\\n".repeat(LARGEST / 2)}"`,
};

/** JSON texts of the largest size that members do send. */
const ORDINARY: Readonly<Record<string, () => string>> = {
  "base64": () => `"${"A".repeat(LARGEST)}"`,
  "Chinese": () => `"${"中".repeat(LARGEST / 3)}"`,
  "Chinese as escapes": () => `"${"\\u4e2d".repeat(LARGEST / 6 - 1)}"`,
  "rows as a text": () => {
    const row = JSON.stringify({ id: 1, name: "Ada Lovelace", mail: "ada@example.com", paid: true });
    return JSON.stringify(`${row}\n`.repeat(LARGEST / 100));
  },
  "lines": () => JSON.stringify("The quick brown fox jumps over the lazy dog.\n".repeat(LARGEST / 46)),
};

async function openOffice() {
  const server = await SmcpServer.listen({ port: 0 });
  const agent = await RawPeer.join(server.url, ada);
  const computer = await RawPeer.join(server.url, laptop);
  return {
    server,
    agent,
    computer,
    /** Sends a request whose member `x` is this text of JSON; resolves to the packet that answers it. */
    async ask(json: string): Promise<string> {
      const answered = new Promise<string>((resolve) => {
        agent.socket.io.engine.on("data", (packet: unknown) => {
          if (String(packet).startsWith("3/smcp,77[")) resolve(String(packet));
        });
      });
      agent.writeRaw(`2/smcp,77["client:x",{"agent":"ada","req_id":"r","computer":"laptop","x":${json}}]`);
      return await Promise.race([answered, agent.disconnected]);
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await computer[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

/** Answers each request with this text of JSON. */
function answerWith(computer: RawPeer, json: string): void {
  computer.socket.io.engine.on("data", (packet: unknown) => {
    const id = /^2\/smcp,(\d+)\["client:x"/.exec(String(packet).slice(0, 100))?.[1];
    if (id !== undefined) computer.writeRaw(`3/smcp,${id}[{"req_id":"r","x":${json}}]`);
  });
}

for (const [name, makeJson] of Object.entries(DENSE)) {
  Deno.test(`A request of too many values is answered 413, and its Computer gets nothing: ${name}`, async () => {
    await using office = await openOffice();
    const answer = await office.ask(makeJson());
    assert(answer.startsWith('3/smcp,77[{"code":413,'), answer.slice(0, 300));
    assertEquals(await office.computer.settled(), []);
  });
}

Deno.test("An answer of too many values becomes 413 for whoever asked", async () => {
  await using office = await openOffice();
  answerWith(office.computer, DENSE["lists beside lists"]?.() ?? "");
  const answer = await office.ask("1");
  assert(answer.startsWith('3/smcp,77[{"code":413,'), answer.slice(0, 300));
  await office.computer.settled();
});

for (const [name, makeJson] of Object.entries(ORDINARY)) {
  Deno.test(`A message of the largest size passes in both directions: ${name}`, async () => {
    await using office = await openOffice();
    const json = makeJson();
    const value: unknown = JSON.parse(json);
    office.computer.serve("client:x", (body) => [body]);
    const answer = JSON.parse((await office.ask(json)).slice("3/smcp,77".length));
    assert(answer[0].x === value, JSON.stringify(answer).slice(0, 300));
  });
}

Deno.test("Packets whose values could hide, or that have attachments beside them, end the connection", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const dense = `[${"[],".repeat(200_000)}[]]`;
  const attachment = '{"_placeholder":true,"num":0}';
  for (
    const packet of [
      `2/smcp",77["client:x",{"x":${dense}}]`,
      `2/smcp,77[${dense}]`,
      `0/smcp,{"x":${dense}}`,
      `51-/smcp,77["client:x",{"x":${dense}},${attachment}]`,
    ]
  ) {
    await using peer = await RawPeer.connect(server.url);
    peer.writeRaw(packet);
    await peer.disconnected;
  }
});

Deno.test("One polling body of packets with too many values together ends the connection", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = `${POLLING}&sid=${await openPolling(server.port)}`;
  await exchange(server.port, { target, method: "POST", body: "40/smcp," });
  assertEquals((await exchange(server.port, { target })).body.includes("40/smcp,{"), true);
  const packet = `42/smcp,1["client:x",{"x":[${"[],".repeat(80_000)}[]]}]`;
  await exchange(server.port, { target, method: "POST", body: Array(60).fill(packet).join("\x1e") });
  const { status, body } = await exchange(server.port, { target });
  assertEquals([status, body.includes("Session ID unknown")], [400, true]);
});
