/** Two processes on a Redis Cluster of three nodes, one of which restarts with nothing in memory. */
import { assert, assertEquals } from "@std/assert";
import { RedisCluster } from "../fixtures/redis_cluster.ts";
import { hasRedis } from "../fixtures/redis_server.ts";
import { sized } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { Cluster, Load } from "./_cluster.ts";

const TIMES = { heartbeatMs: 1_000, leaseMs: 4_000 };
/** So many that each node has some. */
const OFFICES = sized({ reduced: 6, full: 18 });
const ROUNDS = sized({ reduced: 1, full: 3 });
const CALLS = sized({ reduced: 10, full: 40 });
const COMPUTERS = ["c0", "c1"];

Deno.test({
  name: "one node of a Redis Cluster restarts: each request in flight is settled once, and calls go on",
  ignore: !hasRedis,
  // As in `faults_test.ts`.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using redis = await RedisCluster.start();
    await using cluster = await Cluster.start(redis, TIMES, 2);
    const offices = Array.from({ length: OFFICES }, (_, number) => {
      const office = `office ${number}`;
      const add = (name: string, on: number) =>
        cluster.add("computer", [office, name], { on, session: `${office} ${name}` });
      return {
        agent: cluster.add("agent", [office, "agent"], { on: number % 2, session: office }),
        computers: COMPUTERS.map(add),
      };
    });
    const members = offices.flatMap(({ agent, computers }) => [agent, ...computers]);
    await Promise.all(members.map((member) => member.joined()));
    for (let round = 0; round < ROUNDS; round++) {
      for (const node of redis.nodes) {
        const computers = offices.flatMap(({ computers }) => computers);
        for (const computer of computers) computer.holdBack();
        const calls = offices.flatMap(({ agent }) =>
          COMPUTERS.map((name) => agent.call(name, `${round} ${node.port} ${name}`))
        );
        await eventually(
          () => computers.filter(({ heldBack }) => heldBack === 0).length,
          (count) => count === 0,
          "a call that waits at each Computer",
        );
        await node.kill();
        await node.restart();
        for (const computer of computers) computer.release();
        // Each of them: a call that is not settled fails by its deadline.
        assertEquals((await Promise.all(calls)).length, OFFICES * COMPUTERS.length);
        const loads = offices.map(({ agent }) => new Load(agent, COMPUTERS));
        await Promise.all(loads.map((load) => load.progress(CALLS)));
        await Promise.all(loads.map((load) => load[Symbol.asyncDispose]()));
      }
    }
    assertEquals(cluster.violations(), []);
    for (const { agent } of offices) {
      const { codes, outcomes } = cluster.ledger(agent.office);
      assertEquals([...codes.keys()].filter((code) => code !== 404 && code !== 503), []);
      assert(outcomes.answered > 0);
    }
    // Nobody lost a place.
    assertEquals(members.map(({ joins }) => joins), members.map(() => 1));
  },
});
