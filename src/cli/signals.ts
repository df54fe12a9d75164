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

/**
 * Aborts the signal on Ctrl-C, SIGTERM and SIGHUP; a second one ends the process at once. A second SIGHUP does not: the end
 * of a terminal sends several.
 */
export function listenForInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const listeners = signals().map((name) => {
    const listener = () => {
      if (!controller.signal.aborted) controller.abort(new InterruptedError(name));
      else if (name !== "SIGHUP") Deno.exit(ExitCode.INTERRUPTED);
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
