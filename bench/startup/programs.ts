/** Measures how long the programs run, compared with a program that does nothing. */
import { fromFileUrl, join } from "@std/path";
import { controlPath } from "../../src/cli/socket_folder.ts";
import { chooseFolder } from "../../src/files/user_sockets.ts";
import { ControlServer } from "../../src/cli/control/server.ts";
import { silentLogger } from "../../src/log.ts";

const ROUNDS = 10;
const root = fromFileUrl(new URL("../../", import.meta.url));
const USER = "bench";

/** Prints the median time of each command line. The rounds alternate, so that other load slows all of them equally. */
export async function measurePrograms(): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const nothing = join(folder, "nothing.ts");
    await Deno.writeTextFile(nothing, "");
    await using _computer = await runComputer(folder);
    const lines = [
      [nothing],
      ["server.ts", "--help"],
      ["agent.ts", "--help"],
      ["computer.ts", "--help"],
      ["computer.ts", "status"],
    ].map((args) => ({ args, times: [] as number[] }));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { args, times } of lines) {
        const ms = await timeProgram(args, { XDG_RUNTIME_DIR: folder, USER });
        // The first round also compiles, so it is not counted.
        if (round > 0) times.push(ms);
      }
    }
    for (const { args, times } of lines) {
      const name = args[0] === nothing ? "a program that does nothing" : args.join(" ");
      const median = times.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? NaN;
      console.log(`${name}: ${Math.round(median)} ms`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A stand-in for a Computer. It answers each command at once, so that only the time of the client is measured. */
async function runComputer(root: string): Promise<AsyncDisposable> {
  const folder = chooseFolder([root], USER);
  await Deno.mkdir(folder, { mode: 0o700 });
  const run = () => Promise.resolve({ output: "done", error: "", exitCode: 0 });
  return await ControlServer.open(await controlPath(folder, "laptop"), { run, log: silentLogger });
}

async function timeProgram(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", ...args],
    cwd: root,
    env: { ...env },
    stdout: "null",
    stderr: "inherit",
  });
  const startMs = performance.now();
  const { success } = await command.output();
  if (!success) throw new TypeError(`Cannot measure "${args.join(" ")}": it failed`);
  return performance.now() - startMs;
}
