/** Looking at processes by their id. */
import { kill } from "node:process";
import { isWindows } from "../fixtures/system.ts";
import { eventually } from "../fixtures/within.ts";

/** Whether a process is there and no zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  if (isWindows) return isThere(pid);
  const { stdout } = await new Deno.Command("ps", {
    args: ["-o", "stat=", "-p", String(pid)],
    stdout: "piped",
    stderr: "null",
  }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state !== "" && !state.startsWith("Z");
}

function isThere(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves when none of the processes is there any more. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    await eventually(() => isAlive(pid), (isThere) => !isThere, `the end of process ${pid}`);
  }
}

/** All processes that a process has started, and those that they have. */
export async function descendants(pid: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid="], stdout: "piped" })
    .output();
  const pairs = new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const children = (parent: number): number[] =>
    pairs.filter(([, ppid]) => ppid === parent).flatMap(([child = 0]) => [child, ...children(child)]);
  return children(pid);
}
