/** Shell lines that give a value. */
import { killGroup } from "./spawn.ts";

/** Runs a shell line in a separate process group, so that an abort ends all processes of the line. */
export async function runShell(line: string, signal: AbortSignal): Promise<Deno.CommandOutput> {
  signal.throwIfAborted();
  const [shell, flag] = Deno.build.os === "windows" ? ["cmd", "/c"] as const : ["sh", "-c"] as const;
  const process = new Deno.Command(shell, {
    args: [flag, line],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    detached: true,
  }).spawn();
  const onAbort = () => killGroup(process.pid, "SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const output = await process.output();
    signal.throwIfAborted();
    return output;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
