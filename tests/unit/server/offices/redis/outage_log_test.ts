import { assertEquals, assertStringIncludes } from "@std/assert";
import { explainRedisError, OutageLog } from "../../../../../src/server/offices/redis/connection.ts";
import { shownRedisUrl } from "../../../../../src/server/offices/redis/settings.ts";
import { LogBook } from "../../../../fixtures/log_book.ts";

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
