/** Attacker: a member of another office, or with other credentials. It knows session values and ids that are not its own */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer, staticTokens } from "../../server.ts";
import { type PeerOptions, RawPeer } from "../integration/_socket.ts";
import { within } from "../fixtures/within.ts";
import { keepRedis, worlds } from "./_worlds.ts";

keepRedis();

const SESSION = "2b6f0cc9-04d0-4c9f-8e0f-9c2c3a5e7d11";
const VICTIM = { auth: { token: "victims-token", session: SESSION } };
const lab = { role: "agent", name: "ada", office_id: "lab" } as const;

const auth = staticTokens({ tokens: ["victims-token", "attackers-token"] });

function listen(): Promise<SmcpServer> {
  return SmcpServer.listen({ port: 0, auth });
}

/** Whether this member is in its office still, as the Server tells it. */
async function isIn(peer: RawPeer, officeId: string): Promise<boolean> {
  const body = { agent: "ada", req_id: "r", office_id: officeId };
  const [answer] = await within(peer.request("server:list_room", body), "the list");
  const { sessions } = Object(answer);
  return Array.isArray(sessions) && sessions.some(({ sid }) => sid === peer.id);
}

const THIEVES: Readonly<Record<string, readonly [options: PeerOptions, role: "agent" | "computer"]>> = {
  "another token, as Agent": [{ auth: { token: "attackers-token", session: SESSION } }, "agent"],
  "another token, as Computer": [{ auth: { token: "attackers-token", session: SESSION } }, "computer"],
  "the same token, as Computer": [VICTIM, "computer"],
  "the same token, as an observer": [{ auth: { ...VICTIM.auth, observer: true } }, "agent"],
};

for (const { name: world, ignore, open } of worlds) {
  for (const [who, [options, role]] of Object.entries(THIEVES)) {
    const name = `${world}: a session value with ${who} takes nobody's place`;
    const fn = async () => {
      await using place = await open({ auth });
      await using victim = await RawPeer.join(place.home.url, lab, VICTIM);
      await using thief = await RawPeer.connect(place.away.url, options);
      for (const office_id of ["lab", "other"]) {
        await thief.request("server:join_office", { role, name: "ada", office_id });
        assert(await isIn(victim, "lab"), "the victim is out of its office");
      }
    };
    Deno.test({ name, ignore, fn });
  }

  const name = `${world}: guessed session values take nobody's place, and the right one takes it everywhere`;
  const fn = async () => {
    await using place = await open({ auth });
    await using victim = await RawPeer.join(place.home.url, lab, VICTIM);
    const guesses = [
      `${SESSION} `,
      SESSION.toUpperCase(),
      SESSION.slice(0, -1),
      victim.id,
      "",
      "__proto__",
      [SESSION],
      { session: SESSION },
      null,
      "x".repeat(200),
    ];
    for (const session of guesses) {
      await using thief = await RawPeer.connect(place.away.url, { auth: { ...VICTIM.auth, session } });
      assertEquals((await thief.request("server:join_office", lab))[0], false, String(session));
      assert(await isIn(victim, "lab"), `the victim is out of its office: ${session}`);
    }
    await using back = await RawPeer.join(place.away.url, lab, VICTIM);
    await within(victim.disconnected, "the end of the older connection");
    assert(await isIn(back, "lab"));
  };
  Deno.test({ name, ignore, fn });
}

Deno.test("the id of a member that others see opens no connection of its", async () => {
  await using server = await listen();
  await using victim = await RawPeer.join(server.url, lab, VICTIM);
  for (const method of ["GET", "POST"]) {
    const url = `${server.url}/socket.io/?EIO=4&transport=polling&a2c_version=0.2.0&sid=${victim.id}`;
    const response = await fetch(url, method === "POST" ? { method, body: "41/smcp," } : { method });
    await response.body?.cancel();
    assertEquals(response.status, 400);
  }
  assert(await isIn(victim, "lab"));
});

Deno.test("a member of one office learns and touches nothing of another", async () => {
  await using server = await listen();
  await using victim = await RawPeer.join(server.url, lab, VICTIM);
  await using laptop = await RawPeer.join(
    server.url,
    { role: "computer", name: "laptop", office_id: "lab" },
    { auth: { token: "victims-token" } },
  );
  const asked: unknown[] = [];
  laptop.socket.onAny((event: string) => void asked.push(event));
  laptop.nextRequest("client:tool_call");
  const call = {
    agent: "ada",
    req_id: "secret-call",
    computer: "laptop",
    tool_name: "t",
    params: {},
    timeout: 30,
  };
  const pending = victim.request("client:tool_call", call).catch(() => []);
  await using stranger = await RawPeer.join(
    server.url,
    { role: "agent", name: "ada", office_id: "den" },
    { auth: { token: "attackers-token" } },
  );
  const ask = async (event: string, body: Record<string, unknown>) => {
    const [answer] = await within(stranger.request(event, { agent: "ada", req_id: "r", ...body }), event);
    const { req_id: _reqId, ...rest } = Object(answer);
    return JSON.stringify(rest).replaceAll(/laptop|nobody/g, "NAME").replaceAll(/lab|nowhere/g, "OFFICE");
  };
  const heard = asked.length;
  assertEquals(
    await ask("client:get_tools", { computer: "laptop" }),
    await ask("client:get_tools", { computer: "nobody" }),
  );
  for (const event of ["server:list_room", "server:leave_office"]) {
    assertEquals(await ask(event, { office_id: "lab" }), await ask(event, { office_id: "nowhere" }));
  }
  await ask("server:tool_call_cancel", { req_id: "secret-call" });
  await ask("server:update_tool_list", { computer: "laptop", office_id: "lab" });
  await laptop.settled();
  assertEquals(asked.slice(heard), []);
  assert(
    victim.arrivals.every(([event]) => event === "notify:enter_office"),
    JSON.stringify(victim.arrivals),
  );
  assert(await isIn(victim, "lab"));
  await laptop.cut();
  await within(pending, "the end of the call");
});
