import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LoggedRefusal } from "../../../../../src/server/observe/logs.ts";
import {
  explainRedisError,
  OutageLog,
  RedisConnection,
  schemeHint,
} from "../../../../../src/server/offices/redis/connection.ts";
import { shownRedisUrl } from "../../../../../src/server/offices/redis/settings.ts";
import { silentLogger } from "../../../../../src/log.ts";
import { LogBook } from "../../../../fixtures/log_book.ts";
import { hasRedis, RedisServer } from "../../../../fixtures/redis_server.ts";
import { RedisCluster } from "../../../../fixtures/redis_cluster.ts";
import { TcpProxy } from "../../../../fixtures/tcp_proxy.ts";
import { eventually, within } from "../../../../fixtures/within.ts";
import { agent } from "../_offices.ts";
import { openProcess } from "./_process.ts";

const ignore = !hasRedis;

Deno.test({
  name: "a process whose URL lacks the password cannot reach Redis, and never says that it lost it",
  ignore,
  async fn() {
    await using redis = await RedisServer.start(() => ["--requirepass", "s3cret"]);
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
    await using wire = new TcpProxy(redis.port);
    const logger = new LogBook();
    const url = `redis://127.0.0.1:${wire.port}`;
    const { state, premises } = openProcess({ url, prefix: "a2c" }, { logger });
    try {
      await within(state.started, "the registration");
      wire.interrupt();
      await logger.until(({ message }) => message.startsWith("lost touch with Redis"));
      wire.restore();
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
    await using later = new AsyncDisposableStack();
    await using wire = new TcpProxy(redis.port);
    const logger = new LogBook();
    let aheadMs = 0;
    const clock = {
      monotonicMs: () => performance.now() + aheadMs,
      wallMs: () => Date.now() + aheadMs,
    };
    const url = `redis://127.0.0.1:${wire.port}`;
    const { state, premises } = openProcess({ url, prefix: "a2c" }, { logger, clock });
    try {
      await within(state.started, "the registration");
      assertEquals(state.unready, undefined);
      premises.add("ada");
      await within(state.join(agent("ada")), "the join");
      wire.interrupt();
      await logger.until(({ message }) => message.startsWith("lost touch with Redis"));
      assertEquals(state.unready, "cannot reach Redis");
      aheadMs = 60_000;
      // Stands for the same one after a restart: its own port may be taken meanwhile.
      wire.restore(later.use(await RedisServer.start()).port);
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
      const ready = { onAway() {}, onRestored() {}, wasRegistered: () => true };
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

for (const kind of [RedisServer, RedisCluster]) {
  Deno.test({
    name: `a connection to a ${kind.name} closes once its messages are there`,
    ignore,
    async fn() {
      await using redis = await kind.start();
      const { url } = redis;
      const receiver = await openConnection(url);
      const received: string[] = [];
      const channels = ["1", "2", "3"];
      for (const channel of channels) {
        await within(
          receiver.clients.subscribe(channel, () => void received.push(channel)),
          "a subscription",
        );
      }
      const sender = await openConnection(url);
      const large = "x".repeat(4 * 1024 * 1024);
      const published = Promise.all(channels.map((channel) => sender.clients.publish(channel, large)));
      // In a cluster, a message reaches its node's connection a little later.
      await sender.clients.send("key", ["EXISTS", "key"]);
      await within(sender.close(60_000), "the end of the sender");
      assertEquals(sender.isUp, false);
      await within(published, "the replies");
      await eventually(() => received, ({ length }) => length === 3, "the messages");
      await receiver.close(0);
    },
  });
}

Deno.test({
  name: "a command does not wait for the messages before it",
  ignore,
  async fn() {
    await using redis = await RedisServer.start();
    await using wire = new TcpProxy(redis.port);
    const connection = await openConnection(`redis://127.0.0.1:${wire.port}`);
    const passed = wire.loseAnswerTo("a message");
    const published = connection.clients.publish("channel", "a message");
    const refused = assertRejects(() => published);
    await within(passed, "the message");
    assertEquals(await within(connection.clients.send("key", ["EXISTS", "key"]), "the command's answer"), 0);
    await connection.close(0);
    await within(refused, "the end of the message");
  },
});

Deno.test("a problem is logged once a minute while it lasts, another one at once, and its end", () => {
  const book = new LogBook();
  let nowMs = 0;
  const log = new OutageLog(book, () => nowMs);
  const fail = (message: string) => log.failed("warn", "cannot reach Redis", { cause: new Error(message) });
  for (; nowMs < 150_000; nowMs += 2_000) fail("away");
  assertEquals(book.of("warn").length, 3);
  fail("WRONGPASS invalid username-password pair");
  assertEquals(book.of("warn").length, 4);
  log.restored("reached Redis again");
  log.restored("reached Redis again");
  assertEquals(book.of("info").map(({ message }) => message), ["reached Redis again"]);
});

Deno.test("problems that alternate are each logged once a minute, without what follows from another one", () => {
  const book = new LogBook();
  let nowMs = 0;
  const log = new OutageLog(book, () => nowMs);
  for (; nowMs < 50_000; nowMs += 100) {
    for (
      const text of ["ERR This instance has cluster support disabled", "All the root nodes are unavailable"]
    ) {
      log.failed("error", "cannot reach Redis", { cause: new Error(text) });
    }
  }
  assertEquals(book.lines.length, 1);
  assertStringIncludes(String(book.lines[0]?.fields["error"]), "write the URL without +cluster");
});

Deno.test("a command that Redis does not allow is an error, which names the command", () => {
  const book = new LogBook();
  const text = "NOPERM User a2c has no permissions to run the 'pexpire' command";
  new OutageLog(book).failed("warn", "failed to renew the lease in Redis", { cause: new Error(text) });
  assertStringIncludes(String(book.of("error")[0]?.fields["error"]), "add +pexpire");
});

Deno.test("explainRedisError() says in words what to mend, and keeps the text of Redis", () => {
  const meanings: Readonly<Record<string, string>> = {
    "WRONGPASS invalid username-password pair or user is disabled.": "wrong user name or password (WRONGPASS",
    "NOAUTH Authentication required.": "needs a password",
    "NOPERM No permissions to access a key": "--redis-prefix (~a2c:* &a2c:* by default)",
    "connect ECONNREFUSED 127.0.0.1:6379": "connection refused",
    "NOPERM this user has no permissions to run the 'client|setinfo' command": "add +client|setinfo",
    "Socket closed unexpectedly": "Socket closed unexpectedly",
  };
  for (const [text, meaning] of Object.entries(meanings)) {
    assertStringIncludes(explainRedisError(new Error(text)), meaning);
  }
});

Deno.test("shownRedisUrl() leaves the user name and the password out", () => {
  assertEquals(shownRedisUrl("rediss+cluster://u:s3cret@a:1,b:2"), "rediss+cluster://a:1,b:2");
  assertEquals(shownRedisUrl("redis://a:1/2"), "redis://a:1/2");
});

async function openConnection(url: string): Promise<RedisConnection> {
  const ready = { onAway() {}, onRestored() {}, wasRegistered: () => true };
  const connection = new RedisConnection({ url, heartbeatMs: 60_000, logger: silentLogger, ...ready });
  await within(connection.open(new AbortController().signal), "the connection");
  return connection;
}
