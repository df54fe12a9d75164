/** The command line of `computer.ts` in a folder of its own. */
import { join } from "@std/path";
import {
  type DoorOptions,
  type DoorOutcome,
  runDoor,
  type RunningDoor,
  startDoor,
} from "../fixtures/door.ts";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";

/** What a command said, without the line that a start of over three seconds is worth, on a busy machine. */
export function withoutSlowStart(stderr: string): string {
  return stderr.replace(/^\S+ WARN +computer: waiting for MCP servers to start .*\n/m, "");
}

/** A folder for the files of one test, and for the control sockets of its Computers; gone at the end. */
export class Workplace implements Disposable {
  readonly folder: string = Deno.realPathSync(Deno.makeTempDirSync());

  /** What keeps the test's Computers to themselves. */
  get env(): Record<string, string> {
    return { XDG_RUNTIME_DIR: this.folder, XDG_STATE_HOME: this.folder, NO_COLOR: "1" };
  }

  /** Writes a file, JSON unless it is a text, and gives its path. */
  write(name: string, content: unknown): string {
    const path = join(this.folder, name);
    Deno.writeTextFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return path;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }

  /** Runs one command to its end, in a process of its own where that has a working folder. */
  run(
    args: readonly string[],
    options: Pick<DoorOptions, "input" | "cwd" | "env"> = {},
  ): Promise<DoorOutcome> {
    const run = options.cwd === undefined ? runHosted : runDoor;
    return run("computer.ts", args, { ...options, env: { ...this.env, ...options.env } });
  }

  /** Starts a Computer. */
  start(args: readonly string[]): RunningDoor {
    return startHosted("computer.ts", args, { env: this.env });
  }

  /** Starts a Computer, and waits until it has joined. */
  serve(args: readonly string[]): Promise<RunningDoor> {
    return untilJoined(this.start(args));
  }

  /** Starts a Computer as a process of its own, and waits until it has joined. */
  serveAlone(args: readonly string[]): Promise<RunningDoor> {
    return untilJoined(startDoor("computer.ts", args, { env: this.env }));
  }
}

async function untilJoined(running: RunningDoor): Promise<RunningDoor> {
  await running.said("joined office");
  return running;
}
