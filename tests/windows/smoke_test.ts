/** An office on Windows: Server, Computer, MCP server and Agent are processes of Deno for Windows. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../fixtures/within.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { Launcher } from "./launcher.ts";
import { hasWindows, runOnWindows, runWindowsTests, startOnWindows } from "./wine.ts";

if (!hasWindows) {
  console.log("windows: skipped, Wine is not in .windows/ (tests/windows/install.ts puts it there)");
}

function test(name: string, fn: () => Promise<void>, { isSmoke = true } = {}): void {
  Deno.test({ name, fn, ignore: !hasWindows || !(isSmoke || isFullSize) });
}

for (
  const permissions of [["-A"], [
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
    "--allow-sys",
    "--allow-run",
  ]]
) {
  const holder = permissions.length === 1 ? "by itself" : "by its guard, without --allow-ffi";
  test(`a killed Computer leaves no process of its MCP servers behind on Windows, ${holder}`, async () => {
    using launcher = new Launcher();
    const { env } = launcher;
    await using server = startOnWindows("server.ts", ["--port", "0"], { env });
    const url = await server.listening();
    const place = ["--url", url, "--office", "office"];
    const words = [...place, "--name", "desk", "--config", launcher.config, "--auto-apply"];
    await using computer = startOnWindows("computer.ts", words, { env, permissions });
    await computer.said("joined office");
    const agent = ["call", "echo", "text=grüße", "--computer", "desk", ...place, "--name", "ada"];
    assertEquals((await runOnWindows("agent.ts", agent, { env })).stdout.trim(), "grüße");
    if (permissions.length === 1) {
      assertStringIncludes((await runOnWindows("computer.ts", ["status"], { env })).stdout, "kiosk  running");
    }
    const count = () => launcher.processes.length;
    await eventually(count, (count) => count === Launcher.PROCESSES, "all processes of the MCP server");
    computer.kill("SIGKILL");
    await eventually(count, (count) => count === 0, "the end of the MCP server");
  }, { isSmoke: permissions.length === 1 });
}

test("programs of Windows start, reach each other by pipes, and end with what they have started", async () => {
  const { code, output } = await runWindowsTests([
    "tests/unit/mcp/stdio",
    "tests/integration/computer_processes_test.ts",
    "tests/integration/control_socket_test.ts",
  ]);
  assertEquals(code, 0, output);
  assertMatch(output, /\nok \| \d\d+ passed/);
});
