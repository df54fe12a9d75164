/** Attacker: many members together. Each one stays within its bounds, and all fill the memory of the Server */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Credentials, SmcpServer } from "../../server.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import { RawMember } from "./_raw_member.ts";
import { exchange, frameHead, openPolling, POLLING, RawConnection } from "./_raw_http.ts";

const MIB = 1024 * 1024;
const MANY = 8;
/** Room for four messages of the largest size. Each user is a principal. */
const BOUNDS = {
  auth: { authenticate: ({ auth }: Credentials) => ({ principal: `user ${auth["user"]}` }) },
  maxPayloadBytes: 8 * MIB,
  maxMessageMemoryBytes: 32 * MIB,
};
const LARGE = "x".repeat(7 * MIB);

const computer = (name: string) => ({ role: "computer", name, office_id: "crowd" } as const);
const body = { agent: "ada", req_id: "r" };

/** An Agent with a Computer that answers, in an office of their own. */
async function openPair(server: SmcpServer) {
  const laptop = await RawPeer.join(server.url, {
    role: "computer",
    name: "laptop",
    office_id: "lab",
  });
  const ada = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  laptop.serve("client:echo", () => [{ ok: true }]);
  return {
    ada,
    echo: (text: string) => ada.request("client:echo", { ...body, computer: "laptop", text }),
    async [Symbol.asyncDispose]() {
      await ada[Symbol.asyncDispose]();
      await laptop[Symbol.asyncDispose]();
    },
  };
}

Deno.test("Messages that many members do not finish have a bound together; small calls go on, and large ones when they have gone", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...BOUNDS });
  await using pair = await openPair(server);
  const members: RawMember[] = [];
  for (let index = 0; index < MANY; index++) {
    const member = await RawMember.join(server, computer(`c${index}`), { user: `u${index}` });
    members.push(member);
    await member.sendBytes(frameHead(8 * MIB));
    await member.sendBytes(new Uint8Array(7 * MIB));
  }
  const refused = async () => Object((await pair.echo(LARGE))[0])["details"]?.option;
  await eventually(refused, (option) => option === "maxMessageMemoryBytes", "a large message to be refused");
  assertEquals(Object((await pair.echo("small"))[0])["code"], undefined);
  for (const member of members) member[Symbol.dispose]();
  const code = async () => Object((await pair.echo(LARGE))[0])["code"];
  await eventually(code, (code) => code === undefined, "a large message to pass");
});

Deno.test("polling: bodies that many members do not finish have a bound together; those beyond it lose their connection", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...BOUNDS });
  await using pair = await openPair(server);
  await using members = new AsyncDisposableStack();
  let lost = 0;
  const endings: Promise<unknown>[] = [];
  const head = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: ${8 * MIB}\r\n\r\n`;
  for (let index = 0; index < MANY; index++) {
    const target = `${POLLING}&sid=${await openPolling(server.port)}`;
    await exchange(server.port, { method: "POST", target, body: `40/smcp,{"user":"u${index}"}` });
    await exchange(server.port, { target });
    // Without a poll, Engine.IO waits 30 seconds before it closes the session.
    const poll = members.use(new RawConnection(server.port));
    poll.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
    const connection = members.use(new RawConnection(server.port));
    connection.write(head(target));
    connection.write(new Uint8Array(7 * MIB).fill(0x34));
    endings.push(connection.untilClosed().then(() => lost++, () => lost++));
  }
  await eventually(() => lost, (count) => count >= MANY / 2, "half of them to be closed");
  assertEquals(Object((await pair.echo("small"))[0])["code"], undefined);
  assertEquals(lost < MANY, true, "those within the bound stay");
  await members.disposeAsync();
  await Promise.all(endings);
  const code = async () => Object((await pair.echo(LARGE))[0])["code"];
  await eventually(code, (code) => code === undefined, "a large message to pass");
});

Deno.test("requests that wait for many slow Computers have a bound together, and the refusal names it", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...BOUNDS });
  await using pair = await openPair(server);
  await using agent = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "crowd" });
  const deaf: RawMember[] = [];
  for (let index = 0; index < MANY; index++) {
    deaf.push(await RawMember.join(server, computer(`c${index}`)));
    agent.socket.emit("client:x", { ...body, computer: `c${index}`, text: LARGE }, () => {});
  }
  await agent.settled();
  const [refusal] = await agent.request("client:x", { ...body, computer: "c0", text: LARGE });
  const [other] = await pair.echo(LARGE);
  for (const answer of [refusal, other]) assertEquals(Object(answer)["code"], 413);
  const { message, details } = Object(other);
  assertEquals(details.option, "maxMessageMemoryBytes");
  assertStringIncludes(message, "Try again");
  assertEquals(Object((await pair.echo("small"))[0])["code"], undefined);
  for (const member of deaf) member[Symbol.dispose]();
  const code = async () => Object((await pair.echo(LARGE))[0])["code"];
  await eventually(code, (code) => code === undefined, "a large message to pass");
});
