/** Reads the state of processes from Linux's `/proc`. */
import { RUN_VARIABLE, TAG_VARIABLE } from "./scenery.ts";

/** One process of this run. */
export interface MarkedProcess {
  readonly pid: number;
  /** The server that it belongs to, and its generation; absent for the Computer. */
  readonly tag: string | undefined;
  /** Whether it is the server itself and not a child process of it. */
  readonly isServer: boolean;
  readonly commandLine: string;
}

/** The memory of a process that is in RAM, in MiB. */
export async function residentMib(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** The number of open file descriptors of a process by kind: `socket`, `pipe`, `/dev/null` … */
export function descriptorsOf(pid: number): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    const target = readOr(() => Deno.readLinkSync(`/proc/${pid}/fd/${name}`));
    if (target === undefined) continue;
    const kind = target.replace(/:\[\d+\]$/, "").replace(/^anon_inode:/, "");
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

/** All processes with the mark of this run in their environment, whatever their parent is. Zombies have no environment. */
export function markedProcesses(run: string): MarkedProcess[] {
  const found: MarkedProcess[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = readOr(() => Deno.readTextFileSync(`/proc/${name}/environ`));
    if (environment === undefined || !environment.includes(`${RUN_VARIABLE}=${run}\0`)) continue;
    const commandLine = (readOr(() => Deno.readTextFileSync(`/proc/${name}/cmdline`)) ?? "").replaceAll(
      "\0",
      " ",
    );
    const tag = new RegExp(`(?:^|\0)${TAG_VARIABLE}=([^\0]*)`).exec(environment)?.[1];
    found.push({ pid: Number(name), tag, isServer: commandLine.includes("mcp_server.ts"), commandLine });
  }
  return found;
}

/** A child process, as `/proc` shows it. */
export interface ChildProcess {
  readonly pid: number;
  /** Whether it is a zombie: it has ended, and its parent has not read its exit status. */
  readonly isZombie: boolean;
  /** The start time in ticks of the system. Together with the id it identifies the process. */
  readonly startTick: number;
}

/** The children of a process. */
export function childrenOf(parent: number): ChildProcess[] {
  const children: ChildProcess[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readStat(pid) : undefined;
    if (stat?.parent === parent) {
      children.push({ pid, isZombie: stat.state === "Z", startTick: stat.startTick });
    }
  }
  return children;
}

/** Whether the same process still exists. */
export function isThere({ pid, startTick }: ChildProcess): boolean {
  return readStat(pid)?.startTick === startTick;
}

function readStat(pid: number): { state: string; parent: number; startTick: number } | undefined {
  // The name in parentheses may contain any character; the state follows it.
  const fields = readOr(() => Deno.readTextFileSync(`/proc/${pid}/stat`))?.replace(/^.*\) /s, "").split(" ");
  if (fields === undefined) return undefined;
  return { state: fields[0] ?? "", parent: Number(fields[1]), startTick: Number(fields[19]) };
}

/** Reads a file of a process; the process may end meanwhile. */
function readOr(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
