import { assertEquals, assertThrows } from "@std/assert";
import { spawnGroupLeader } from "../../src/mcp/stdio/spawn.ts";

const env = { PATH: Deno.env.get("PATH") ?? "" };

/** Spawns, and gives what it printed and the process's id. */
async function run(
  command: string,
  args: readonly string[],
  cwd?: string,
): Promise<{ text: string; pid: number }> {
  const process = spawnGroupLeader(command, { args, env, cwd });
  await process.stdin.close();
  const [text] = await Promise.all([
    new Response(process.stdout).text(),
    process.stderr.cancel(),
    process.status,
  ]);
  return { text: text.trim(), pid: process.pid };
}

Deno.test({
  name: "a child leads a process group of its own under the id that its parent knows, however it is named",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const command of ["sh", "/bin/sh"]) {
      const { text, pid } = await run(command, ["-c", "ps -o pgid= -p $$"]);
      assertEquals(text, String(pid), command);
    }
  },
});

Deno.test({
  name: "a child gets its arguments, its environment and its working folder as they are",
  ignore: Deno.build.os === "windows",
  async fn() {
    const { text } = await run("sh", ["-c", 'echo "$1|$2|$PWD|$HOME"', "sh", "-a b", "--"], "/");
    assertEquals(text, "-a b|--|/|");
  },
});

Deno.test("a command or a working folder that is not there is told at once", () => {
  const spawn = (command: string, cwd?: string) => () => spawnGroupLeader(command, { args: [], env, cwd });
  assertThrows(spawn("no-such-command-here"), Deno.errors.NotFound);
  assertThrows(spawn("/no/such/command"), Deno.errors.NotFound);
  assertThrows(spawn("deno", "/no/such/folder"), Deno.errors.NotFound);
});
