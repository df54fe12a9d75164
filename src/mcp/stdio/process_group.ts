/** Signals to a child process and all that it has started. */

/** Signals the process group that `pid` leads, on Windows the process alone; one that is gone is no error. */
export function killGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(Deno.build.os === "windows" ? pid : -pid, signal);
  } catch {
    // Gone already: no such group, or one of nothing but zombies, which some systems refuse to signal.
  }
}
