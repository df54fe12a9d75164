import { assertEquals } from "@std/assert";
import { toCompletions } from "../../../../src/terminal/editor/typed_line.ts";

Deno.test("toCompletions() keeps candidates with the prefix, without duplicates", () => {
  assertEquals(toCompletions("s", ["status", "server", "tools", "status"]), [["status", "server"], "s"]);
});

Deno.test("toCompletions() adds a space after a single candidate, except a folder", () => {
  assertEquals(toCompletions("server sta", ["start", "stop"]), [["start "], "sta"]);
  assertEquals(toCompletions("add src/", ["src/cli/"]), [["src/cli/"], "src/"]);
});

Deno.test("toCompletions() quotes candidates like the open word, and closes the quote", () => {
  assertEquals(toCompletions("start m", ["my server"]), [["my\\ server "], "m"]);
  assertEquals(toCompletions(`start "my s`, ["my server"]), [['"my server" '], '"my s']);
  assertEquals(toCompletions("start 'm", ["my server", "mine"]), [["'my server'", "'mine'"], "'m"]);
  assertEquals(toCompletions("add 'my f", ["my folder/"]), [["'my folder/"], "'my f"]);
});

Deno.test("toCompletions() omits candidates with control characters", () => {
  assertEquals(toCompletions("", ["\u001b[2Jx", "a\u202eb", "two\nlines", "ok"]), [["ok "], ""]);
});
