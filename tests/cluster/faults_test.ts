/**
 * Several processes on one Redis, and what may happen to each of them under load. No office ever has two Agents that are
 * both answered, each request is answered once or fails with a code, and everything comes back.
 */
import { assert, assertEquals } from "@std/assert";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";
import { sized } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { Cluster, Load } from "./_cluster.ts";
import type { Member } from "./_members.ts";

/** Short, so that the tests are. */
const SHORT = { heartbeatMs: 600, leaseMs: 2_400 };
/** Long enough for a busy machine, where a test needs a lease to last. */
const LONG = { heartbeatMs: 2_000, leaseMs: 6_000 };
const OFFICES = sized({ reduced: 6, full: 18 });
const ROUNDS = sized({ reduced: 1, full: 5 });
const CALLS = sized({ reduced: 10, full: 40 });

function test(name: string, fn: (redis: RedisServer) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !hasRedis,
    // The polling transport of socket.io-client leaves timers behind.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using redis = await RedisServer.start();
      await fn(redis);
    },
  });
}

/** Offices whose members are spread over all processes by the balancer; every third member polls. */
async function openOffices(cluster: Cluster, disposal: AsyncDisposableStack): Promise<readonly Load[]> {
  const loads: Load[] = [];
  for (let number = 0; number < OFFICES; number++) {
    const office = `office ${number}`;
    const transport = (place: number) => ({
      transport: (number + place) % 3 === 0 ? "polling" as const : "websocket" as const,
      session: `${office} ${place}`,
    });
    const agent = cluster.add("agent", [office, "agent"], transport(0));
    const computers = ["first", "second"];
    const members = [
      agent,
      ...computers.map((name, i) => cluster.add("computer", [office, name], transport(i + 1))),
    ];
    await Promise.all(members.map((member) => member.joined()));
    loads.push(disposal.use(new Load(agent, computers)));
  }
  return loads;
}

/** Waits for further answers, and stops the load. */
async function finishWork(loads: readonly Load[]): Promise<void> {
  await Promise.all(loads.map((load) => load.progress(CALLS)));
  await Promise.all(loads.map((load) => load[Symbol.asyncDispose]()));
}

/** Stops the load, and checks what was seen. */
async function finish(cluster: Cluster, loads: readonly Load[]): Promise<void> {
  await Promise.all(loads.map((load) => load[Symbol.asyncDispose]()));
  assertEquals(cluster.violations(), []);
  for (const { agent } of loads) {
    const { codes } = cluster.ledger(agent.office);
    const others = [...codes.keys()].filter((code) => ![404, 503, 4103].includes(Number(code)));
    assertEquals(others, [], `codes in "${agent.office}"`);
  }
}

test("one of three processes is killed under load, and its members go on through the others", async (redis) => {
  await using cluster = await Cluster.start(redis, SHORT);
  await using disposal = new AsyncDisposableStack();
  const loads = await openOffices(cluster, disposal);
  await Promise.all(loads.map((load) => load.progress(CALLS)));
  cluster.balancer.exclude(0);
  await cluster.process(0).kill();
  await Promise.all(loads.map((load) => load.progress(CALLS)));
  await finish(cluster, loads);
});

test("one of three processes is frozen under load, loses its seats, thaws, and answers for none of them", async (redis) => {
  await using cluster = await Cluster.start(redis, SHORT);
  await using disposal = new AsyncDisposableStack();
  const loads: Load[] = [];
  const work = (agent: Member, computers: readonly string[]) => {
    const load = disposal.use(new Load(agent, computers));
    loads.push(load);
    return load;
  };
  const all = ["c0", "c1", "c2"];
  const holders: Member[] = [];
  const held: Member[] = [];
  for (let number = 0; number < OFFICES; number++) {
    const office = `office ${number}`;
    const computers = all.map((name, on) => cluster.add("computer", [office, name], { on }));
    const agent = cluster.add("agent", [office, "holder"], { on: number % 3 });
    await Promise.all([agent, ...computers].map((member) => member.joined()));
    if (number % 3 !== 0) work(agent, all);
    else {
      holders.push(agent);
      held.push(...computers);
    }
  }
  const others = [...loads];
  for (let round = 0; round < ROUNDS; round++) {
    await finishWork(holders.map((holder) => work(holder, all)));
    // A process may be frozen between its last look at the lease and the end of a write. Here none of its writes to a holder
    // is under way, and all answers for a holder reach it after it was frozen.
    for (const computer of held) computer.holdBack();
    const calls = holders.flatMap((holder) => all.map((name) => holder.call(name, `round ${round}-${name}`)));
    await eventually(
      () => held.filter((computer) => computer.heldBack === 0).length,
      (count) => count === 0,
      "a call that waits at each Computer",
    );
    const dismissed = holders.map(({ farewells }) => farewells.length);
    cluster.process(0).freeze();
    for (const computer of held) computer.release();
    const contenders = holders.map(({ office }) =>
      cluster.add("agent", [office, `contender ${round}`], { on: 1 })
    );
    // Calls between the others go on meanwhile.
    await Promise.all(others.map((load) => load.progress(CALLS, ["c1", "c2"])));
    await Promise.all(contenders.map((contender) => contender.joined()));
    const taken = contenders.map((contender) => work(contender, ["c1", "c2"]));
    await Promise.all(taken.map((load) => load.progress(CALLS)));
    cluster.process(0).thaw();
    assertEquals((await Promise.all(calls)).filter((outcome) => outcome === "answered"), []);
    await Promise.all(
      holders.map(({ farewells }, number) =>
        eventually(
          () => farewells.length,
          (count) => count > (dismissed[number] ?? 0),
          "the farewell of a holder",
        )
      ),
    );
    assert(holders.every(({ farewells }) => farewells.at(-1) === "lease_lost"));
    await finishWork(taken);
    assertEquals(cluster.violations(), []);
    for (const contender of contenders) await contender[Symbol.asyncDispose]();
    await Promise.all(others.map((load) => load.progress(CALLS)));
    await finishWork(holders.map((holder) => work(holder, all)));
  }
  await finish(cluster, loads);
});

test("a process that is cut off from Redis serves its own members until its lease ends, and then none", async (redis) => {
  await using cluster = await Cluster.start(redis, LONG);
  const local = cluster.add("computer", ["lab", "local"], { on: 0 });
  const remote = cluster.add("computer", ["lab", "remote"], { on: 1 });
  const holder = cluster.add("agent", ["lab", "holder"], { on: 0 });
  await Promise.all([local, remote, holder].map((member) => member.joined()));
  assertEquals(await holder.call("remote", "1"), "answered");
  cluster.process(0).redis.interrupt();
  const isAway = (outcome: string) => outcome === "refused";
  await eventually(() => holder.call("remote", "2"), isAway, "a refused call to another process");
  assertEquals(await holder.call("local", "3"), "answered");
  const late = cluster.add("computer", ["lab", "late"], { on: 0 });
  await eventually(() => late.refusal, (reason) => reason?.includes("Redis") ?? false, "a refused join");
  const contender = cluster.add("agent", ["lab", "contender"], { on: 1 });
  await contender.joined();
  assertEquals(await holder.call("local", "4"), "refused");
  assertEquals([...cluster.ledger("lab").codes.keys()], [503]);
  assertEquals(await contender.call("remote", "5"), "answered");
  assertEquals(await contender.call("remote", "6"), "answered");
  cluster.process(0).redis.restore();
  await eventually(
    () => holder.farewells,
    (codes) => codes.includes("lease_lost"),
    "the farewell of the holder",
  );
  for (const name of ["local", "late"]) {
    await eventually(
      () => contender.call(name, `7 ${name}`),
      (outcome) => outcome === "answered",
      `"${name}" again`,
    );
  }
  assertEquals(cluster.violations(), []);
});

test("a process that is cut off from Redis answers no Agent whose newer connection has taken its seat elsewhere", async (redis) => {
  await using cluster = await Cluster.start(redis, SHORT);
  const local = cluster.add("computer", ["lab", "local"], { on: 0 });
  const remote = cluster.add("computer", ["lab", "remote"], { on: 1 });
  const session = "the same";
  const old = cluster.add("agent", ["lab", "agent"], { on: 0, session });
  await Promise.all([local, remote, old].map((member) => member.joined()));
  await using _load = new Load(old, ["local"]);
  cluster.process(0).redis.interrupt();
  // At once with Redis, but the process that is cut off may act for the old connection until its lease ends.
  old.stayAway();
  const back = cluster.add("agent", ["lab", "agent"], { on: 1, session });
  await back.joined();
  await using taken = new Load(back, ["remote"]);
  await taken.progress(CALLS);
  cluster.process(0).redis.restore();
  await eventually(() => old.farewells.length, (count) => count > 0, "the farewell of the old connection");
  await taken.progress(CALLS);
  assertEquals(cluster.violations(), []);
});

test("Redis restarts with nothing in memory, and every member keeps its seat", async (redis) => {
  await using cluster = await Cluster.start(redis, LONG);
  await using disposal = new AsyncDisposableStack();
  const loads = await openOffices(cluster, disposal);
  await Promise.all(loads.map((load) => load.progress(CALLS)));
  const contenders = loads.map(({ agent }) => cluster.add("agent", [agent.office, "contender"]));
  for (let round = 0; round < 2 * ROUNDS; round++) {
    await redis.kill();
    await redis.restart();
    await Promise.all(loads.map((load) => load.progress(CALLS)));
  }
  assertEquals(contenders.map(({ joins }) => joins), contenders.map(() => 0));
  assertEquals(loads.map(({ agent }) => agent.joins), loads.map(() => 1));
  await finish(cluster, loads);
});

test("Redis freezes for longer than a lease: calls fail with 503, and everything comes back", async (redis) => {
  await using cluster = await Cluster.start(redis, SHORT);
  await using disposal = new AsyncDisposableStack();
  const loads = await openOffices(cluster, disposal);
  await Promise.all(loads.map((load) => load.progress(CALLS)));
  for (let round = 0; round < ROUNDS; round++) {
    const before = loads.map(({ refused }) => refused);
    redis.freeze();
    await Promise.all(
      loads.map((load, number) =>
        eventually(() => load.refused, (count) => count > (before[number] ?? 0), "a refused call")
      ),
    );
    redis.thaw();
    await Promise.all(loads.map((load) => load.progress(CALLS)));
  }
  await finish(cluster, loads);
});
