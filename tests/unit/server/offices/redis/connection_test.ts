import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LoggedRefusal } from "../../../../../src/server/observe/logs.ts";
import { RedisConnection, schemeHint } from "../../../../../src/server/offices/redis/connection.ts";
import { delay } from "../../../../../src/async/backoff.ts";
import { silentLogger } from "../../../../../src/log.ts";
import { LogBook } from "../../../../fixtures/log_book.ts";
import { hasRedis, RedisServer } from "../../../../fixtures/redis_server.ts";
import { RedisCluster } from "../../../../fixtures/redis_cluster.ts";
import { eventually, within } from "../../../../fixtures/within.ts";
import { agent } from "../_offices.ts";
import { openProcess } from "./_process.ts";

const ignore = !hasRedis;

Deno.test({
  name: "a process whose URL lacks the password cannot reach Redis, and never says that it lost it",
  ignore,
  async fn() {
    await using redis = await RedisServer.start(["--requirepass", "s3cret"]);
    const logger = new LogBook();
    const { state, premises } = openProcess({ url: redis.url, prefix: "a2c" }, { logger });
    try {
      const { message, fields } = await logger.until(({ level }) => level === "error");
      assertStringIncludes(message, "cannot reach Redis");
      assertStringIncludes(String(fields["error"]), "it needs a password");
      premises.add("ada");
      const refusal = await assertRejects(() => within(state.join(agent("ada")), "the join"), LoggedRefusal);
      assertEquals([refusal.code, refusal.log], [503, { redis: "out of reach" }]);
      assert(!logger.lines.some(({ message }) => /lost touch|again/.test(message)), "lost touch");
    } finally {
      await state.close();
      premises[Symbol.dispose]();
    }
  },
});

Deno.test({
  name: "a process that was registered says that it lost Redis, and that it reached it again",
  ignore,
  async fn() {
    await using redis = await RedisServer.start();
    const logger = new LogBook();
    const { state, premises } = openProcess({ url: redis.url, prefix: "a2c" }, { logger });
    try {
      await within(state.started, "the registration");
      await redis.kill();
      await logger.until(({ message }) => message.startsWith("lost touch with Redis"));
      await redis.restart();
      await logger.until(({ message }) => message === "reached Redis again");
    } finally {
      await state.close();
      premises[Symbol.dispose]();
    }
  },
});

Deno.test({
  name: "a process is not ready while its members wait for leases that a restarted Redis has forgotten",
  ignore,
  async fn() {
    await using redis = await RedisServer.start();
    const logger = new LogBook();
    let aheadMs = 0;
    const clock = {
      monotonicMs: () => performance.now() + aheadMs,
      wallMs: () => Date.now() + aheadMs,
    };
    const { state, premises } = openProcess({ url: redis.url, prefix: "a2c" }, { logger, clock });
    try {
      await within(state.started, "the registration");
      assertEquals(state.unready, undefined);
      premises.add("ada");
      await within(state.join(agent("ada")), "the join");
      await redis.kill();
      await logger.until(({ message }) => message.startsWith("lost touch with Redis"));
      assertEquals(state.unready, "cannot reach Redis");
      aheadMs = 60_000;
      await redis.restart();
      await eventually(() => state.unready, (why) => why?.startsWith("waiting") ?? false, "the wait");
      assertEquals(state.isServing("ada"), false);
      await logger.until(({ level, message }) =>
        level === "warn" && message.startsWith("waiting, since Redis has restarted")
      );
    } finally {
      await state.close();
      premises[Symbol.dispose]();
    }
  },
});

Deno.test("schemeHint() names the other scheme when one end may speak TLS and the other not", () => {
  assertStringIncludes(schemeHint(new Error("Connection timeout"), true) ?? "", "use redis://");
  assertStringIncludes(schemeHint(new Error("Socket closed unexpectedly"), false) ?? "", "use rediss://");
  assertEquals(schemeHint(new Error("Connection timeout"), false), undefined);
});

for (const kind of [RedisServer, RedisCluster]) {
  Deno.test({
    name: `connections to a ${kind.name} that are given up while they open leave nothing behind`,
    ignore,
    async fn() {
      await import("@redis/client");
      await using redis = await kind.start();
      const ready = { onAway() {}, onRestored() {}, hadTouch: () => true };
      const options = { url: redis.url, heartbeatMs: 2_000, logger: silentLogger, ...ready };
      // What the first attempts leave behind has its connections when the last one ends.
      for (let attempt = 0; attempt < 10; attempt++) {
        const giveUp = new AbortController();
        const opening = new RedisConnection(options).open(giveUp.signal);
        // No socket is opened between microtasks, and by then each client has begun to.
        for (let turn = 0; turn < 100; turn++) await null;
        giveUp.abort();
        await assertRejects(() => within(opening, "the end"), DOMException);
      }
      const isAsking = (client: string) => client.includes("cmd=client|list");
      const findOthers = async () => {
        const clients = (await redis.run("CLIENT", "LIST")).split("\n");
        return clients.filter((client) => client.trim() !== "" && !isAsking(client));
      };
      await eventually(findOthers, ({ length }) => length === 0, "no client but those that ask");
    },
  });
}

Deno.test({
  name: "a command overtakes large messages, and published() waits for them",
  ignore,
  async fn() {
    await using redis = await RedisServer.start();
    const done = await publishLargeMessages(redis.url);
    assertEquals(done, ["command", "message 1", "message 2", "message 3", "published"]);
  },
});

Deno.test({
  name: "published() waits for the messages to all nodes of a cluster",
  ignore,
  async fn() {
    await using redis = await RedisCluster.start();
    const done = await publishLargeMessages(redis.url);
    assertEquals(done.filter((what) => what !== "command").at(-1), "published");
  },
});

/** Publishes three large messages on one connection, then a command; returns what is done, in order. */
async function publishLargeMessages(url: string): Promise<readonly string[]> {
  const ready = { onAway() {}, onRestored() {}, hadTouch: () => true };
  const options = { url, heartbeatMs: 2_000, logger: silentLogger, ...ready };
  const connection = new RedisConnection(options);
  await within(connection.open(new AbortController().signal), "the connection");
  try {
    const done: string[] = [];
    const large = "x".repeat(32 * 1024 * 1024);
    const all = [1, 2, 3].map(async (index) => {
      await connection.publish(`channel ${index}`, large);
      done.push(`message ${index}`);
    });
    // One turn later, so that those who wait for a message go first.
    all.push(connection.published().then(() => delay(0)).then(() => void done.push("published")));
    all.push(connection.send("key", ["EXISTS", "key"]).then(() => void done.push("command")));
    await within(Promise.all(all), "the answers of Redis");
    return done;
  } finally {
    connection.close();
  }
}
