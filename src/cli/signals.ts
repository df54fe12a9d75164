/** The signals that end a program. */
import { ExitCode, UsageError } from "./outcome.ts";

/** Why the work of a program is aborted. */
export class InterruptedError extends UsageError {
  readonly signal: Deno.Signal;

  constructor(signal: Deno.Signal) {
    super("Interrupted");
    this.signal = signal;
  }
}

/** A signal to a process group comes twice through a program that passes it on, such as the launcher of npm. */
const REPEAT_MS = 500;

/**
 * Aborts the signal on Ctrl-C, SIGTERM and SIGHUP; a later one ends the process at once. A later SIGHUP does not: the end of
 * a terminal sends several.
 */
export function listenForInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let firstMs = Infinity;
  const listeners = signals().map((name) => {
    const listener = () => {
      const nowMs = performance.now();
      firstMs = Math.min(firstMs, nowMs);
      if (!controller.signal.aborted) controller.abort(new InterruptedError(name));
      else if (name !== "SIGHUP" && nowMs - firstMs > REPEAT_MS) Deno.exit(ExitCode.INTERRUPTED);
    };
    Deno.addSignalListener(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
    },
  };
}

function signals(): readonly Deno.Signal[] {
  return Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM", "SIGHUP"];
}
