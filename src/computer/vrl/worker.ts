/**
 * The worker that runs VRL scripts. The engine is WebAssembly: it cannot be interrupted, and a crash leaves it unusable,
 * so it runs in a worker that can be terminated.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { withMaxMemory } from "./wasm_memory.ts";

type Engine = typeof import("@bpinternal/verel");

export interface VrlWorkerSettings {
  readonly maxEngineBytes: number;
}

/** A script to compile or, with an event as JSON, to run. */
export interface VrlRequest {
  readonly script: string;
  readonly event?: string;
}

export interface VrlDiagnostic {
  readonly message: string;
  readonly labels: readonly VrlLabel[];
}

export interface VrlLabel {
  readonly message: string;
  /** Offsets in the script, in bytes of UTF-8. */
  readonly span: readonly [start: number, end: number];
}

export type VrlAnswer =
  | { readonly status: "compiled"; readonly errors: readonly VrlDiagnostic[] }
  /** `event`: the changed event, as JSON. */
  | { readonly status: "done"; readonly event: string }
  | { readonly status: "failed"; readonly message: string }
  /** The engine crashed and cannot be used again. */
  | { readonly status: "broken"; readonly message: string };

if (parentPort !== null) await serve(parentPort, workerData as VrlWorkerSettings);

async function serve(port: MessagePort, { maxEngineBytes }: VrlWorkerSettings): Promise<void> {
  // The engine prints its crashes here with a stack; the answer reports them.
  console.error = () => {};
  const engine = await loadEngine(maxEngineBytes);
  port.on("message", (request: VrlRequest) => port.postMessage(answer(engine, request)));
  port.postMessage("ready");
}

/** Imports the engine, which compiles its program on import: only then can its memory be bounded. */
async function loadEngine(maxBytes: number): Promise<Engine> {
  const { Module } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(program: BufferSource) {
      super(withMaxMemory(toBytes(program), maxBytes));
    }
  };
  try {
    return await import("@bpinternal/verel");
  } finally {
    WebAssembly.Module = Module;
  }
}

function toBytes(program: BufferSource): Uint8Array<ArrayBuffer> {
  return ArrayBuffer.isView(program)
    ? new Uint8Array(program.buffer, program.byteOffset, program.byteLength)
    : new Uint8Array(program);
}

function answer({ check, execute }: Engine, { script, event }: VrlRequest): VrlAnswer {
  try {
    if (event === undefined) return { status: "compiled", errors: check(script).errors };
    return { status: "done", event: JSON.stringify(execute(script, JSON.parse(event)).event ?? null) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isBroken = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    return { status: isBroken ? "broken" : "failed", message };
  }
}
