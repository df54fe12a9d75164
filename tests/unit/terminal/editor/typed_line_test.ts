import { assertEquals } from "@std/assert";
import { toCompletions } from "../../../../src/terminal/editor/typed_line.ts";

Deno.test("toCompletions() leaves what does not begin as the word does, and each candidate once", () => {
  assertEquals(toCompletions("s", ["status", "server", "tools", "status"]), [["status", "server"], "s"]);
});

Deno.test("toCompletions() puts a space after the only one, but not after a folder", () => {
  assertEquals(toCompletions("server sta", ["start", "stop"]), [["start "], "sta"]);
  assertEquals(toCompletions("add src/", ["src/cli/"]), [["src/cli/"], "src/"]);
});

Deno.test("toCompletions() writes candidates with spaces in the quotes that are open, and closes them", () => {
  assertEquals(toCompletions("start m", ["my server"]), [["my\\ server "], "m"]);
  assertEquals(toCompletions(`start "my s`, ["my server"]), [['"my server" '], '"my s']);
  assertEquals(toCompletions("start 'm", ["my server", "mine"]), [["'my server'", "'mine'"], "'m"]);
  assertEquals(toCompletions("add 'my f", ["my folder/"]), [["'my folder/"], "'my f"]);
});

Deno.test("toCompletions() offers no name that would command the terminal", () => {
  assertEquals(toCompletions("", ["\u001b[2Jx", "a\u202eb", "two\nlines", "ok"]), [["ok "], ""]);
});
