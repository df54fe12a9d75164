/** Attacker: a Computer of the same office, awake or new, that claims the id of another machine to get its calls */
import { assertEquals, assertRejects } from "@std/assert";
import { SmcpServer, staticTokens } from "../../server.ts";
import { ada, laptop, request } from "../integration/_echo_office.ts";
import { RawPeer } from "../integration/_socket.ts";
import { keepRedis, worlds } from "./_worlds.ts";

keepRedis();

const auth = staticTokens({ tokens: ["victims-token", "attackers-token"] });
const VICTIM = { auth: { token: "victims-token", machine: "m1" } };

/** The machines of the Computers of the office, by their names. */
async function machinesOf(agent: RawPeer, probe = false): Promise<Record<string, string | undefined>> {
  const [answer] = await agent.request("server:list_presence", { ...request, office_id: "lab", probe });
  const { computers } = Object(answer);
  if (!Array.isArray(computers)) throw new TypeError(`Cannot read ${Deno.inspect(answer)}`);
  return Object.fromEntries(computers.map(({ computer, machine }) => [computer, machine]));
}

for (const { name: world, ignore, open } of worlds) {
  const name = `${world}: a machine's id leads to that machine, whoever else claims it`;
  const fn = async () => {
    await using place = await open({ auth });
    await using agent = await RawPeer.join(place.home.url, ada, { auth: { token: "victims-token" } });
    await using victim = await RawPeer.join(place.home.url, laptop, VICTIM);
    victim.serve("client:echo", () => ["victim"]);
    const { laptop: machine } = await machinesOf(agent);
    const thieves = {
      token: { token: "attackers-token", machine: "m1" },
      id: VICTIM.auth,
      whole: { ...VICTIM.auth, machine },
    };
    await using stack = new AsyncDisposableStack();
    for (const [name, auth] of Object.entries(thieves)) {
      const thief = stack.use(await RawPeer.join(place.away.url, { ...laptop, name }, { auth }));
      thief.serve("client:echo", () => [name]);
    }
    const machines = await machinesOf(agent, true);
    const taken = Object.values(machines).filter((each) => each === machine);
    assertEquals([machines["laptop"], taken.length], [machine, 1]);
    assertEquals(await agent.request("client:echo", { ...request, computer: machine }), ["victim"]);
    await victim[Symbol.asyncDispose]();
    await agent.next("notify:leave_office");
    const [gone] = await agent.request("client:echo", { ...request, computer: machine });
    assertEquals(Object(gone).code, 404, `${world}: ${Deno.inspect(gone)}`);
  };
  Deno.test({ name, ignore, fn });
}

Deno.test("a Computer cannot be named like the id of a machine", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await assertRejects(
    () => RawPeer.join(server.url, { ...laptop, name: "machine:~x" }),
    TypeError,
    "is the id of a machine",
  );
});
