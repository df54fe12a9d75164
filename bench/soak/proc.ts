/** What Linux tells of processes, without asking them. */
import { RUN_VARIABLE, TAG_VARIABLE } from "./scenery.ts";

/** One process of this run. */
export interface MarkedProcess {
  readonly pid: number;
  /** Which server's it is and of which generation; absent for the Computer and its guard. */
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

/** The children of a process that have ended and that nobody has waited for. */
export function zombiesOf(pid: number): number {
  let zombies = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = readOr(() => Deno.readTextFileSync(`/proc/${name}/stat`))?.replace(/^.*\) /, "").split(
      " ",
    );
    if (fields?.[0] === "Z" && Number(fields[1]) === pid) zombies++;
  }
  return zombies;
}

/** A process may end while it is looked at. */
function readOr(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
