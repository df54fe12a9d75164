/** The prompt of a Computer in the console of Windows, which Wine draws into a terminal of this machine. */
import { assertEquals, assertMatch } from "@std/assert";
import { Key, openTerminalSession, testOnTerminal } from "../integration/_terminal_session.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { Launcher } from "./launcher.ts";
import { hasWindows, windowsWords } from "./wine.ts";

if (hasWindows && isFullSize) {
  testOnTerminal(
    "the prompt on Windows edits a line, shows its MCP servers and takes them along",
    async () => {
      using launcher = new Launcher();
      const words = windowsWords("computer.ts", ["--name", "desk", "--config", launcher.config]);
      await using session = openTerminalSession(words, { columns: 100, env: launcher.env });
      await session.expectScreen(/1 MCP server runs, with \d+ tools.*\ndesk>$/);
      await session.write(`statuz${Key.backspace}s${Key.enter}`);
      assertMatch(await session.expectScreen(/kiosk +running[^]*desk>$/), /desk> status\n/);
      await session.write(Key.ctrlD);
      assertEquals([await session.expectExit(), launcher.processes], [0, []]);
    },
  );
}
