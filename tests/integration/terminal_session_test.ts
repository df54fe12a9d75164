// The driver that the tests of the prompt stand on, with programs that need no explanation.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { testOnEachTerminal } from "./_terminal.ts";
import { TerminalScreen, withoutCommands } from "./_terminal_screen.ts";
import { Key, openTerminalSession } from "./_terminal_session.ts";

testOnEachTerminal(
  "a terminal session writes keys, waits for text, and gives the exit code",
  async (terminal) => {
    const command = ["sh", "-c", 'printf "name? "; read name; echo "hello $name"; exit 7'];
    await using session = openTerminalSession(command, { terminal });
    assertEquals(await session.expect("? "), "name? ");
    await session.write(`ada${Key.enter}`);
    await session.expect(/hello \w+/);
    assertEquals(await session.expectExit(), 7);
    assertEquals(session.screen(), "name? ada\nhello ada");
  },
);

testOnEachTerminal(
  "a terminal session has the size that it is given, and another one later",
  async (terminal) => {
    const command = ["sh", "-c", "trap 'stty size; exit 0' WINCH; stty size; while :; do read line; done"];
    await using session = openTerminalSession(command, { terminal, columns: 50 });
    await session.expect("40 50");
    await session.resize(70);
    await session.expect("40 70");
  },
);

testOnEachTerminal("a terminal session that is closed ends its program", async (terminal) => {
  const session = openTerminalSession(["sh", "-c", "echo ready; read line"], { terminal });
  await session.expect("ready");
  await session.close();
  assert(await session.expectExit() !== 0);
  const error = await assertRejects(() => session.expect("more"), Error, "the program has ended: more");
  assertStringIncludes(error.message, "ready");
});

Deno.test("TerminalScreen shows what is left after movements and erasures", () => {
  const screen = new TerminalScreen(10);
  screen.write("one\r\ntwo\r\nthree");
  screen.write("\u001b[1A\u001b[1G\u001b[0J2\r\n\u001b[31m财务\u001b[0m\u001b[3D\u001b[K");
  assertEquals(screen.text, "one\n2\n财");
});

Deno.test("TerminalScreen wraps at its width, and only when there is more to show", () => {
  const screen = new TerminalScreen(4);
  screen.write("abcd\r\nefghij");
  assertEquals(screen.text, "abcd\nefgh\nij");
});

Deno.test("TerminalScreen leaves the beginning of a command for later", () => {
  const screen = new TerminalScreen(10);
  const rest = screen.write("abc\u001b[2");
  assertEquals([screen.text, rest], ["abc", "\u001b[2"]);
  assertEquals([screen.write(`${rest}D!`), screen.text], ["", "a!c"]);
});

Deno.test("withoutCommands() leaves the words and the line feeds", () => {
  assertEquals(withoutCommands("\u001b]0;title\u0007a\u001b[31mb\u001b[0m\r\n\u001b[2Kc"), "ab\nc");
});
