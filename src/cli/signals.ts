/** The signals that end a program. */
import { ExitCode, UsageError } from "./outcome.ts";

/** Why the work of a program is aborted. */
export class InterruptedError extends UsageError {
  /** The signal that came first. */
  readonly signal: Deno.Signal;

  constructor(signal: Deno.Signal) {
    super("Interrupted");
    this.signal = signal;
  }
}

/** What a program listens to besides Ctrl-C and SIGTERM. */
export interface SignalOptions {
  /** Whether SIGHUP ends the program as SIGTERM does; otherwise it ends the process at once. */
  readonly isHangupGentle?: boolean;
}

/**
 * Aborts the signal on Ctrl-C and SIGTERM; a second one ends the process at once. A second SIGHUP does not: the end of a
 * terminal sends several.
 */
export function listenForInterrupt(
  { isHangupGentle = false }: SignalOptions = {},
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const listeners = signalsOf(isHangupGentle).map((name) => {
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

function signalsOf(isHangupGentle: boolean): readonly Deno.Signal[] {
  if (Deno.build.os === "windows") return ["SIGINT"];
  return isHangupGentle ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGTERM"];
}
