/** Attacker: an admitted member. It sends text that other members cannot parse, to end their connections */
import { assert, assertEquals } from "@std/assert";
import { ada, EchoOffice, laptop, request } from "../integration/_echo_office.ts";
import { RawPeer } from "../integration/_socket.ts";

/** The next packet to `peer` that begins like this. */
function packetTo(peer: RawPeer, start: string): Promise<string> {
  return new Promise((resolve) => {
    peer.socket.io.engine.on("data", (packet: unknown) => {
      if (String(packet).startsWith(start)) resolve(String(packet));
    });
  });
}

const body = JSON.stringify(request).slice(1, -1);
const INVALID_LONG: Record<string, string> = {};

function withLongString(text: string): string {
  const inside = text.includes('"x":"') ? text.replace('"x":"', `"x":"${LONG}`) : text;
  return inside.replace('["client:echo",{', `["client:echo",{"long":"${LONG}",`);
}

const INVALID: Readonly<Record<string, string>> = {
  "no end": `["client:echo",{${body}`,
  "two values": `["client:echo",{${body}}][]`,
  "a comment": `["client:echo",{${body}}/**/]`,
  "NaN": `["client:echo",{${body},"x":NaN}]`,
  "a control character": `["client:echo",{${body},"x":"\u0001"}]`,
  "a separator of polling packets": `["client:echo",{${body},"x":"\x1e"}]`,
  "a lone quote": `["client:echo",{${body},"x":"}]`,
};

/** Long strings are not parsed: what is invalid may hide in one, or beside it. */
const LONG = "y".repeat(300_000);
for (const [what, text] of Object.entries(INVALID)) INVALID_LONG[`${what}, long`] = withLongString(text);

for (const [what, text] of Object.entries({ ...INVALID, ...INVALID_LONG })) {
  Deno.test(`a request that is not JSON ends the connection of its sender alone: ${what}`, async () => {
    await using office = await EchoOffice.open();
    office.agent.writeRaw(`2/smcp,7${text}`);
    await office.agent.disconnected;
    await using other = await RawPeer.join(office.server.url, { ...ada, name: "eve" });
    assertEquals(await other.request("client:echo", request), [request]);
  });

  Deno.test(`an answer that is not JSON ends the connection of its sender alone: ${what}`, async () => {
    await using office = await EchoOffice.open();
    await using bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
    bad.socket.io.engine.on("data", (packet: unknown) => {
      const id = /^2\/smcp,(\d+)\["client:echo"/.exec(String(packet))?.[1];
      if (id !== undefined) bad.writeRaw(`3/smcp,${id}${text}`);
    });
    const [answer] = await office.agent.request("client:echo", { ...request, computer: "bad" });
    assertEquals((answer as { code: number }).code, 404);
    await office.assertAlive();
  });
}

Deno.test("numbers that not every language can read become null in both directions", async () => {
  await using office = await EchoOffice.open();
  const asked = packetTo(office.computer, "2/smcp,");
  const answered = packetTo(office.agent, "3/smcp,7[");
  const numbers = `[1e999,-1e999,${"9".repeat(5_000)},1]`;
  office.agent.writeRaw(`2/smcp,7["client:echo",{${body},"x":${numbers}}]`);
  assert((await asked).endsWith('"x":[null,null,null,1]}]'));
  assert((await answered).endsWith('"x":[null,null,null,1]}]'));
});

Deno.test("integers with more digits than Python's Socket.IO reads are written with an exponent", async () => {
  await using office = await EchoOffice.open();
  const asked = packetTo(office.computer, "2/smcp,");
  const kept = `${"7".repeat(100)},-${"7".repeat(99)},0.${"7".repeat(200)}`;
  office.agent.writeRaw(`2/smcp,7["client:echo",{${body},"x":[${kept}]}]`);
  assert((await asked).endsWith(`"x":[${kept}]}]`));
  const next = packetTo(office.computer, "2/smcp,");
  office.agent.writeRaw(`2/smcp,8["client:echo",{${body},"x":[1${"0".repeat(100)},-1${"0".repeat(99)}]}]`);
  assert((await next).endsWith('"x":[1e+100,-1e+99]}]'));
});

Deno.test("members of a body that routing does not read arrive as they were written", async () => {
  await using office = await EchoOffice.open();
  const asked = packetTo(office.computer, "2/smcp,");
  const text = `{ "x":12345678901234567890,\t"x":"\\u00e9\\/", ${body}, "__proto__":{"computer":"eve"}}`;
  office.agent.writeRaw(`2/smcp,7["client:echo",${text}]`);
  assertEquals((await asked).replace(/^2\/smcp,\d+/, ""), `["client:echo",${text}]`);
});

Deno.test("a request is routed by the last of two equal names, as its receiver reads it", async () => {
  await using office = await EchoOffice.open();
  await using other = await RawPeer.join(office.server.url, { ...laptop, name: "other" });
  other.serve("client:echo", () => ["other"]);
  const answered = packetTo(office.agent, "3/smcp,7[");
  office.agent.writeRaw(`2/smcp,7["client:echo",{${body},"computer":"other"}]`);
  assertEquals(await answered, '3/smcp,7["other"]');
});

Deno.test("text while attachments are missing ends the connection of its sender alone", async () => {
  await using office = await EchoOffice.open();
  await using bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
  bad.writeRaw('51-/smcp,["client:echo",{"_placeholder":true,"num":0}]');
  bad.writeRaw("3/smcp,0[1]");
  await bad.disconnected;
  await office.assertAlive();
});
