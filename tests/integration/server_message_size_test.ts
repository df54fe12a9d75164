import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { ada, EchoOffice, laptop, request } from "./_echo_office.ts";
import { RawPeer } from "./_socket.ts";

const LIMIT = 10_000;
/** A request with this text is about twice as large as the limit. */
const tooLarge = { ...request, text: "x".repeat(2 * LIMIT) };
const farTooLarge = { ...request, text: "é".repeat(3 * LIMIT) };

function codeOf([answer]: readonly unknown[]): unknown {
  return (answer as { code: number }).code;
}

Deno.test("a request over the limit is answered 413 with both sizes, and its sender stays", async () => {
  await using office = await EchoOffice.open({ maxPayloadBytes: LIMIT });
  const [answer] = await office.agent.request("client:echo", tooLarge);
  const { code, details } = answer as { code: number; details: { size: number; limit: number } };
  assertEquals([code, details.limit, details.size > 2 * LIMIT], [413, LIMIT, true]);
  office.agent.socket.emit("client:echo", tooLarge);
  await office.assertAlive();
  assertEquals(await office.computer.settled(), []);
});

Deno.test("an answer over the limit becomes 413 for whoever asked, and its Computer stays", async () => {
  await using office = await EchoOffice.open({ maxPayloadBytes: LIMIT });
  office.computer.serve("client:big", () => [tooLarge]);
  assertEquals(codeOf(await office.agent.request("client:big", request)), 413);
  await office.assertAlive();
});

Deno.test("a message far over the limit, and a large one that nobody can answer, end the connection", async () => {
  await using office = await EchoOffice.open({ maxPayloadBytes: LIMIT });
  const senders: ((peer: RawPeer) => unknown)[] = [
    (peer) => peer.socket.emit("client:echo", farTooLarge),
    (peer) => peer.socket.emit("client:echo", new Uint8Array(2 * LIMIT)),
    (peer) => peer.writeRaw(`0/smcp,{"x":"${tooLarge.text}"}`),
    (peer) => peer.writeRaw(`51-/smcp,1["client:echo",{"x":"${tooLarge.text}"}]`),
  ];
  for (const [index, send] of senders.entries()) {
    await using bad = await RawPeer.join(office.server.url, { ...laptop, name: `bad ${index}` });
    send(bad);
    await bad.disconnected;
  }
  await office.assertAlive();
});

Deno.test("large messages of several offices at once arrive as they were sent", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using members = new AsyncDisposableStack();
  const offices = await Promise.all(["lab", "den", "hut"].map(async (office_id) => {
    const computer = members.use(await RawPeer.join(server.url, { ...laptop, office_id }));
    computer.serve("client:echo", (body) => [body, office_id]);
    return { office_id, agent: members.use(await RawPeer.join(server.url, { ...ada, office_id })) };
  }));
  await Promise.all(
    offices.flatMap(({ office_id, agent }, office) =>
      Array.from({ length: 12 }, async (_, call) => {
        // Above and below the size from which the bytes of a message are passed on, each with a text of its own.
        const text = `${office_id} ${call} `.repeat(10_000 + 9_000 * call + 1_000 * office);
        const answer = await agent.request("client:echo", { ...request, text });
        assert(
          JSON.stringify(answer) === JSON.stringify([{ ...request, text }, office_id]),
          `${office_id} ${call}`,
        );
      })
    ),
  );
});
