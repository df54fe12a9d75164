/** All unit tests on Windows, and tests of the programs: at full size, since they take minutes. */
import { assertEquals } from "@std/assert";
import { isFullSize } from "../fixtures/test_size.ts";
import { hasWindows, root, runWindowsTests } from "./wine.ts";

/** What starts programs of this repository: Server, Computer, Agent, gateway, `check` and `mcp install`. */
const PROGRAMS = [
  "agent_cli_test.ts",
  "computer_cli_test.ts",
  "computer_commands_test.ts",
  "config_commands_test.ts",
  "gateway_install_test.ts",
  "gateway_stdio_test.ts",
  "group_leader_test.ts",
  "server_cli_test.ts",
  "server_commands_test.ts",
  "shared_seat_test.ts",
  "workspace_example_test.ts",
].map((name) => `tests/integration/${name}`);

const units = [...Deno.readDirSync(`${root}/tests/unit`)].map(({ name }) => `tests/unit/${name}`).sort();
const machines = ["tests/serial/join_test.ts", "tests/serial/joined_server_test.ts"];
for (const path of [...units, ...machines, ...PROGRAMS, "packages/documents/tests/unit"]) {
  Deno.test({
    name: `${path} passes on Windows`,
    ignore: !hasWindows || !isFullSize,
    async fn() {
      const { code, output } = await runWindowsTests([path]);
      assertEquals(code, 0, output);
    },
  });
}
