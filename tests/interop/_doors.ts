/** Our doors as programs, as somebody runs them who has nothing else of ours. */
import { fromFileUrl } from "@std/path";
import { PeerError } from "./peer.ts";

/** The doors that are programs. */
export type Door = "server.ts" | "computer.ts" | "agent.ts";

/** What a door said and how it ended. */
export interface DoorOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a door to its end. */
export async function runDoor(door: Door, args: readonly string[]): Promise<DoorOutcome> {
  const { code, stdout, stderr } = await spawn(door, args).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** A door that runs until it is closed. */
export interface RunningDoor extends AsyncDisposable {
  /** The first line that it printed, by which it says that it is up. */
  readonly greeting: string;
}

/** Starts a door and waits for its first line. */
export async function startDoor(door: Door, args: readonly string[]): Promise<RunningDoor> {
  const child = spawn(door, args);
  const stderr = new Response(child.stderr).text();
  const stdout = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const close = async () => {
    endProcess(child);
    await Promise.all([child.status, stderr, stdout.cancel()]);
  };
  let greeting = "";
  while (!greeting.includes("\n")) {
    const { done, value = "" } = await stdout.read();
    greeting += value;
    if (!done) continue;
    await close();
    throw new PeerError(`Cannot start "${door}": it left saying ${await stderr}`);
  }
  return { greeting: greeting.trim(), [Symbol.asyncDispose]: close };
}

function spawn(door: Door, args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", fromFileUrl(new URL(`../../${door}`, import.meta.url)), ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

function endProcess(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch {
    // It left by itself.
  }
}
