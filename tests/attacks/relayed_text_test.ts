/** Attacker: an admitted member. It sends text that other members cannot parse, to end their connections */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const request = { agent: "ada", req_id: "r", computer: "laptop" };

/** An office, and the packets that its members receive. */
async function openOffice() {
  const server = await SmcpServer.listen({ port: 0 });
  const agent = await RawPeer.join(server.url, ada);
  const computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:x", (body) => [body]);
  return {
    server,
    agent,
    computer,
    /** The next packet to `peer` that begins like this. */
    packetTo: (peer: RawPeer, start: string) =>
      new Promise<string>((resolve) => {
        peer.socket.io.engine.on("data", (packet: unknown) => {
          if (String(packet).startsWith(start)) resolve(String(packet));
        });
      }),
    async assertAlive() {
      assertEquals(await agent.request("client:x", request), [request]);
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await computer[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

const body = JSON.stringify(request).slice(1, -1);
const INVALID_LONG: Record<string, string> = {};

function withLongString(text: string): string {
  const inside = text.includes('"x":"') ? text.replace('"x":"', `"x":"${LONG}`) : text;
  return inside.replace('["client:x",{', `["client:x",{"long":"${LONG}",`);
}

const INVALID: Readonly<Record<string, string>> = {
  "no end": `["client:x",{${body}`,
  "two values": `["client:x",{${body}}][]`,
  "a comment": `["client:x",{${body}}/**/]`,
  "NaN": `["client:x",{${body},"x":NaN}]`,
  "a control character": `["client:x",{${body},"x":"\u0001"}]`,
  "a separator of polling packets": `["client:x",{${body},"x":"\x1e"}]`,
  "a lone quote": `["client:x",{${body},"x":"}]`,
};

/** Long strings are not parsed: what is invalid may hide in one, or beside it. */
const LONG = "y".repeat(300_000);
for (const [what, text] of Object.entries(INVALID)) INVALID_LONG[`${what}, long`] = withLongString(text);

for (const [what, text] of Object.entries({ ...INVALID, ...INVALID_LONG })) {
  Deno.test(`a request that is not JSON ends the connection of its sender alone: ${what}`, async () => {
    await using office = await openOffice();
    office.agent.writeRaw(`2/smcp,7${text}`);
    await office.agent.disconnected;
    await using other = await RawPeer.join(office.server.url, { ...ada, name: "eve" });
    assertEquals(await other.request("client:x", request), [request]);
  });

  Deno.test(`an answer that is not JSON ends the connection of its sender alone: ${what}`, async () => {
    await using office = await openOffice();
    await using bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
    bad.socket.io.engine.on("data", (packet: unknown) => {
      const id = /^2\/smcp,(\d+)\["client:x"/.exec(String(packet))?.[1];
      if (id !== undefined) bad.writeRaw(`3/smcp,${id}${text}`);
    });
    const [answer] = await office.agent.request("client:x", { ...request, computer: "bad" });
    assertEquals((answer as { code: number }).code, 404);
    await office.assertAlive();
  });
}

Deno.test("numbers that not every language can read become null in both directions", async () => {
  await using office = await openOffice();
  const asked = office.packetTo(office.computer, "2/smcp,");
  const answered = office.packetTo(office.agent, "3/smcp,7[");
  const numbers = `[1e999,-1e999,${"9".repeat(5_000)},1]`;
  office.agent.writeRaw(`2/smcp,7["client:x",{${body},"x":${numbers}}]`);
  assert((await asked).endsWith('"x":[null,null,null,1]}]'));
  assert((await answered).endsWith('"x":[null,null,null,1]}]'));
});

Deno.test("integers with more digits than Python's Socket.IO reads are written with an exponent", async () => {
  await using office = await openOffice();
  const asked = office.packetTo(office.computer, "2/smcp,");
  const kept = `${"7".repeat(100)},-${"7".repeat(99)},0.${"7".repeat(200)}`;
  office.agent.writeRaw(`2/smcp,7["client:x",{${body},"x":[${kept}]}]`);
  assert((await asked).endsWith(`"x":[${kept}]}]`));
  const next = office.packetTo(office.computer, "2/smcp,");
  office.agent.writeRaw(`2/smcp,8["client:x",{${body},"x":[1${"0".repeat(100)},-1${"0".repeat(99)}]}]`);
  assert((await next).endsWith('"x":[1e+100,-1e+99]}]'));
});

Deno.test("members of a body that routing does not read arrive as they were written", async () => {
  await using office = await openOffice();
  const asked = office.packetTo(office.computer, "2/smcp,");
  const text = `{ "x":12345678901234567890,\t"x":"\\u00e9\\/", ${body}, "__proto__":{"computer":"eve"}}`;
  office.agent.writeRaw(`2/smcp,7["client:x",${text}]`);
  assertEquals((await asked).replace(/^2\/smcp,\d+/, ""), `["client:x",${text}]`);
});

Deno.test("a request is routed by the last of two equal names, as its receiver reads it", async () => {
  await using office = await openOffice();
  await using other = await RawPeer.join(office.server.url, { ...laptop, name: "other" });
  other.serve("client:x", () => ["other"]);
  const answered = office.packetTo(office.agent, "3/smcp,7[");
  office.agent.writeRaw(`2/smcp,7["client:x",{${body},"computer":"other"}]`);
  assertEquals(await answered, '3/smcp,7["other"]');
});

Deno.test("text while attachments are missing ends the connection of its sender alone", async () => {
  await using office = await openOffice();
  await using bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
  bad.writeRaw('51-/smcp,["client:x",{"_placeholder":true,"num":0}]');
  bad.writeRaw("3/smcp,0[1]");
  await bad.disconnected;
  await office.assertAlive();
});
