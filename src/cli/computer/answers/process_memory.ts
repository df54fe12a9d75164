/** How much memory MCP servers take: their processes, and those that they have started. */

interface ProcessMemory {
  readonly group: number;
  readonly bytes: number;
}

/**
 * The resident bytes of each of these process groups. Empty where they cannot be found out: on Windows, and without the
 * permissions for it.
 */
export async function memoryOfGroups(groups: ReadonlySet<number>): Promise<ReadonlyMap<number, number>> {
  const sums = new Map<number, number>();
  if (groups.size === 0) return sums;
  for await (const { group, bytes } of processes()) {
    if (groups.has(group)) sums.set(group, (sums.get(group) ?? 0) + bytes);
  }
  return sums;
}

async function* processes(): AsyncGenerator<ProcessMemory> {
  const { os } = Deno.build;
  if (os === "linux" && isGranted({ name: "read", path: "/proc" })) yield* readProc();
  if (os === "darwin" && isGranted({ name: "run", command: "ps" })) yield* askPs();
}

/** A permission is not asked for: a person at the prompt would not know what for. */
function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

async function* readProc(): AsyncGenerator<ProcessMemory> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // A process may have ended, and Deno lets only programs with all permissions read of others.
    const text = await Deno.readTextFile(`/proc/${name}/status`).catch(() => "");
    const group = /^NSpgid:\s*(\d+)/m.exec(text)?.[1];
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(text)?.[1];
    if (group !== undefined && kilobytes !== undefined) {
      yield { group: Number(group), bytes: Number(kilobytes) * 1024 };
    }
  }
}

async function* askPs(): AsyncGenerator<ProcessMemory> {
  const { stdout } = await new Deno.Command("ps", { args: ["-A", "-o", "pgid=,rss="], stderr: "null" })
    .output();
  for (const line of new TextDecoder().decode(stdout).split("\n")) {
    const [group, kilobytes] = line.trim().split(/\s+/).map(Number);
    if (group !== undefined && kilobytes !== undefined) yield { group, bytes: kilobytes * 1024 };
  }
}
