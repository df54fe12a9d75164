/** Reads the state of processes from Linux's `/proc`. */
import { RUN_VARIABLE, TAG_VARIABLE } from "./scenery.ts";

/** One process of this run. */
export interface MarkedProcess {
  readonly pid: number;
  /** Which server's it is and of which generation; absent for the Computer. */
  readonly tag: string | undefined;
  /** Whether it is the server itself, no child of it. */
  readonly isServer: boolean;
  readonly commandLine: string;
}

/** The memory of a process that is in RAM, in MiB. */
export async function residentMib(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** What the open descriptors of a process lead to, by kind: `socket`, `pipe`, `/dev/null` … */
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

/** Every process that carries the mark of this run in its environment, wherever it went; zombies carry none. */
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

/** A child of a process, as the system knows it. */
export interface ChildProcess {
  readonly pid: number;
  /** Whether it has ended without being waited for. */
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

/** Whether the same process is still there. */
export function isThere({ pid, startTick }: ChildProcess): boolean {
  return readStat(pid)?.startTick === startTick;
}

function readStat(pid: number): { state: string; parent: number; startTick: number } | undefined {
  // The name, in parentheses, may hold anything; the state comes behind it.
  const fields = readOr(() => Deno.readTextFileSync(`/proc/${pid}/stat`))?.replace(/^.*\) /s, "").split(" ");
  if (fields === undefined) return undefined;
  return { state: fields[0] ?? "", parent: Number(fields[1]), startTick: Number(fields[19]) };
}

/** A process may end while it is looked at. */
function readOr(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
