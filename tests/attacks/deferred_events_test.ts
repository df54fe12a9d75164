/** Attacker: a client that joins while the Server's processes have lost Redis, and sends a flood before it has an answer. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";
import { RawPeer } from "../integration/_socket.ts";

/** How many events may wait. */
const DEFERRED = 64;
const FLOOD = 500;

Deno.test({
  name:
    "Events of a client whose join waits for Redis wait up to a bound, refused beyond it, and answered in order",
  ignore: !hasRedis,
  async fn() {
    await using redis = await RedisServer.start();
    // The lease outlasts the flood, also on a busy machine.
    const options = { url: redis.url, heartbeatMs: 2_500, leaseMs: 10_000 };
    await using server = await SmcpServer.listen({ port: 0, redis: options });
    await using ada = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
    await using eve = await RawPeer.connect(server.url);
    redis.freeze();
    const joined = eve.request("server:join_office", { role: "computer", name: "eve", office_id: "lab" });
    const order: number[] = [];
    const flood = Array.from({ length: FLOOD }, async (_, number) => {
      const [answer] = await eve.request("server:list_room", {
        agent: "eve",
        req_id: `${number}`,
        office_id: "lab",
      });
      order.push(number);
      return JSON.stringify(answer);
    });
    const [refused] = await Promise.all(flood.slice(DEFERRED));
    assertMatch(refused ?? "", /"code":400.*joins or leaves/);
    // The others of the Server are answered at once; with 503 if the lease has ended meanwhile.
    const [listed] = await ada.request("server:list_room", { agent: "ada", req_id: "l", office_id: "lab" });
    assertMatch(JSON.stringify(listed), /"ada"|"code":503/);
    redis.thaw();
    await joined;
    const deferred = await Promise.all(flood.slice(0, DEFERRED));
    assert(deferred.every((answer) => !answer.includes('"code":400')));
    assertEquals(order.slice(-DEFERRED), Array.from({ length: DEFERRED }, (_, number) => number));
  },
});
