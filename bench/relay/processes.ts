/** Measures the processor time and memory of a process, with `/proc` on Linux and with `ps` elsewhere. */

/** The unit in which Linux reports the time of processes: a hundredth of a second. */
const TICKS_PER_SECOND = 100;

/** The processor time that a process has used so far, user and system, in seconds. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return parseClock(await ps(pid, "time"));
  // The name in parentheses may contain any character.
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The memory of a process that is in RAM, in bytes. */
export async function residentBytesOf(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return Number(await ps(pid, "rss")) * 1024;
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** The most files that a child process may open; `undefined` if the system does not report it. */
export async function openFilesLimit(): Promise<number | undefined> {
  const limits = await Deno.readTextFile("/proc/self/limits").catch(() => "");
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? undefined : Number(found);
}

async function ps(pid: number, column: string): Promise<string> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", `${column}=`, "-p", String(pid)] }).output();
  return new TextDecoder().decode(stdout).trim();
}

/** Reads `[hours:]minutes:seconds`. */
function parseClock(text: string): number {
  return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}
