import { assert, assertEquals } from "@std/assert";
import fc from "../../../../fixtures/fast_check.ts";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import { hasRedis, RedisServer } from "../../../../fixtures/redis_server.ts";
import { TcpProxy } from "../../../../fixtures/tcp_proxy.ts";
import { sized } from "../../../../fixtures/test_size.ts";
import { eventually, within } from "../../../../fixtures/within.ts";
import { agent, computer } from "../_offices.ts";
import { openProcess } from "./_process.ts";

let redis: RedisServer | undefined;
const ignore = !hasRedis;

Deno.test.beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
Deno.test.afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
});

/** A step of the property: what a connection does, or what happens to the wire. */
interface Step {
  readonly sid: string;
  /** `leave`, `cut`, or the name that it joins under. */
  readonly what: string;
  /** Whether the next answer of Redis that is about the connection is lost. */
  readonly isLost: boolean;
  readonly isAwaited: boolean;
}

function assertRefused(error: unknown): void {
  assert(error instanceof SmcpError, String(error));
}

/** Two processes, the second one behind a wire that can be cut; each has a member in the same office. */
async function openCuttable(prefix: string) {
  assert(redis !== undefined);
  const { url } = redis;
  const proxy = new TcpProxy(redis.port);
  const near = openProcess({ url, prefix });
  const far = openProcess({ url: `redis://127.0.0.1:${proxy.port}`, prefix });
  const all = [near, far];
  const cuts: Promise<void>[] = [];
  await within(Promise.all(all.map(({ state }) => state.started)), "registered processes");
  for (const [{ state, premises }, member] of [[near, agent("ada")], [far, computer("desk")]] as const) {
    premises.add(member.sid);
    await within(state.join(member), "the join");
  }
  return {
    proxy,
    near,
    far,
    /** Lets the next answer of Redis that is about a connection be lost. */
    loseAnswerAbout(sid: string): void {
      // The message about a change may come on the other connection meanwhile.
      const cut = () => redis?.run("PING").then(() => proxy.cut());
      void proxy.loseAnswerTo(`"sid":"${sid}"`).then(() => cuts.push(Promise.resolve(cut())));
    },
    /** The lines about a Computer that the second process was told. */
    told: (name: string) => far.premises.log.filter((line) => line.endsWith(` lab ${name}`)),
    /** Waits until both processes list the Computers of the office. */
    async assertComputers(names: readonly string[]): Promise<void> {
      for (const { state } of all) {
        const look = () =>
          state.members("lab").then(
            (members) => members.filter(({ role }) => role === "computer").map(({ name }) => name),
            () => [],
          );
        await eventually(look, (found) => String(found.toSorted()) === String(names), `Computers ${names}`);
      }
    },
    async [Symbol.asyncDispose]() {
      // A client of Redis that is closed between two attempts to connect leaves the timer of its wait behind.
      proxy.loseNothing();
      await within(Promise.all(cuts), "the cuts that are under way");
      // Starts a process: meanwhile the clients notice the last cut.
      await redis?.run("PING");
      await eventually(
        () => all.flatMap(({ state }) => state.unready ?? []),
        (reasons) => reasons.length === 0,
        "the connections",
      );
      await Promise.all(all.map(({ state }) => state.close()));
      for (const { premises } of all) premises[Symbol.dispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

Deno.test({
  name: "a connection is a member if and only if its process was told so, when the reply to its join is lost",
  ignore,
  async fn() {
    await using world = await openCuttable("lost-reply");
    const { proxy, near, far } = world;
    const laptop = computer("laptop");
    far.premises.add(laptop.sid);
    const passed = proxy.loseAnswerTo('"name":"laptop"');
    const joining = within(far.state.join(laptop), "the join").catch((error) => error);
    await within(passed, "the request to join");
    await eventually(() => near.premises.log, (log) => log.includes("joined lab laptop"), "the change");
    proxy.cut();
    const isMember = !((await joining) instanceof SmcpError);
    await world.assertComputers(isMember ? ["desk", "laptop"] : ["desk"]);
    const last = world.told("laptop").at(-1);
    assertEquals(last, isMember ? "joined lab laptop" : last && "left lab laptop");
    assertEquals(far.premises.offices.has(laptop.sid), isMember);
    await eventually(
      () => far.state.isServing(laptop.sid),
      (isServing) => isServing === isMember,
      "the member",
    );
  },
});

Deno.test({
  name:
    "whatever is lost on the way to Redis, the connections that were told so are the members of the office",
  ignore,
  async fn() {
    let runs = 0;
    const run = async (steps: readonly Step[]) => {
      await using world = await openCuttable(`lossy-${runs++}`);
      const { proxy, near, far } = world;
      const changes: Promise<unknown>[] = [];
      // The changes of one connection must not overlap.
      const last = new Map<string, Promise<unknown>>();
      const change = (sid: string, run: () => Promise<unknown>) => {
        const done = (last.get(sid) ?? Promise.resolve()).then(run).catch((error) => assertRefused(error));
        last.set(sid, done);
        changes.push(within(done, `a change of ${sid}`));
      };
      for (const { sid, what, isLost, isAwaited } of steps) {
        const { state, premises } = sid.startsWith("near") ? near : far;
        premises.add(sid);
        if (what === "cut") proxy.cut();
        if (isLost) world.loseAnswerAbout(sid);
        if (what === "leave") change(sid, () => state.leave(sid));
        else if (what !== "cut") {
          change(sid, () => state.join(computer(what, { sid, ...(what === "x" ? { session: "s" } : {}) })));
        }
        if (isAwaited) await Promise.all(changes);
      }
      await Promise.all(changes);
      const look = async () => {
        const told = [near, far].flatMap(({ premises }) => [...premises.offices.keys()]).toSorted();
        const listed = await Promise.all(
          [near, far].map(({ state }) => state.members("lab").catch(() => [])),
        );
        return { told, listed: listed.map((members) => members.map(({ sid }) => sid).toSorted()) };
      };
      await eventually(
        look,
        ({ told, listed }) => listed.every((sids) => String(sids) === String(told)),
        `what was told after ${JSON.stringify(steps)}`,
      );
      for (const { state, premises } of [near, far]) {
        for (const sid of premises.offices.keys()) {
          await eventually(() => state.isServing(sid), (isServing) => isServing, `${sid} to be served`);
        }
      }
    };
    const step = fc.record({
      sid: fc.constantFrom("near 1", "near 2", "far 1", "far 2"),
      what: fc.constantFrom("x", "y", "x", "y", "leave", "cut"),
      isLost: fc.boolean(),
      isAwaited: fc.boolean(),
    });
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), {
      numRuns: sized({ reduced: 8, full: 100 }),
      // Shrinking would open hundreds of worlds.
      endOnFailure: true,
    });
  },
});
