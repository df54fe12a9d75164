/**
 * The worker that VRL scripts run in. The engine is WebAssembly: it cannot be interrupted, and what it could not cope
 * with leaves it unusable, so it stands where it can be thrown away as a whole.
 */
import { check, execute } from "@bpinternal/verel";
import type { VrlDiagnostic } from "./vrl_diagnosis.ts";

/** A script to compile or, with an event as JSON, to run. */
export interface VrlRequest {
  readonly script: string;
  readonly event?: string;
}

/** What came of a request. */
export type VrlAnswer =
  | { readonly status: "compiled"; readonly errors: readonly VrlDiagnostic[] }
  /** The event that the script made, as JSON. */
  | { readonly status: "done"; readonly event: string }
  | { readonly status: "failed"; readonly message: string }
  /** The engine itself went astray, and is not to be used again. */
  | { readonly status: "broken"; readonly message: string };

// The first and only message brings the port that everything else goes through.
globalThis.addEventListener("message", (message) => {
  const port = message instanceof MessageEvent ? message.ports[0] : undefined;
  if (port === undefined) return;
  // The engine reports its own faults here, with a stack; the answer tells of them.
  console.error = () => {};
  port.onmessage = ({ data }: MessageEvent<VrlRequest>) => port.postMessage(answer(data));
  port.postMessage("ready");
}, { once: true });

function answer({ script, event }: VrlRequest): VrlAnswer {
  try {
    if (event === undefined) return { status: "compiled", errors: check(script).errors };
    return { status: "done", event: JSON.stringify(execute(script, JSON.parse(event)).event ?? null) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isBroken = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    return { status: isBroken ? "broken" : "failed", message };
  }
}
