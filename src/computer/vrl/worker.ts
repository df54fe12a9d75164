/**
 * The worker that VRL scripts run in. The engine is WebAssembly: it cannot be interrupted, and what it could not cope
 * with leaves it unusable, so it stands where it can be thrown away as a whole.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { withMaxMemory } from "./wasm_memory.ts";

type Engine = typeof import("@bpinternal/verel");

/** What the worker is started with. */
export interface VrlWorkerSettings {
  /** The most memory that the engine itself may take, in bytes. */
  readonly maxEngineBytes: number;
}

/** A script to compile or, with an event as JSON, to run. */
export interface VrlRequest {
  readonly script: string;
  readonly event?: string;
}

/** A finding of the compiler. */
export interface VrlDiagnostic {
  readonly message: string;
  readonly labels: readonly VrlLabel[];
}

/** What a finding says of a part of the script. */
export interface VrlLabel {
  readonly message: string;
  /** Bytes of the script's UTF-8 from its beginning. */
  readonly span: readonly [start: number, end: number];
}

/** What came of a request. */
export type VrlAnswer =
  | { readonly status: "compiled"; readonly errors: readonly VrlDiagnostic[] }
  /** The event that the script made, as JSON. */
  | { readonly status: "done"; readonly event: string }
  | { readonly status: "failed"; readonly message: string }
  /** The engine itself went astray, and is not to be used again. */
  | { readonly status: "broken"; readonly message: string };

if (parentPort !== null) await serve(parentPort, workerData as VrlWorkerSettings);

async function serve(port: MessagePort, { maxEngineBytes }: VrlWorkerSettings): Promise<void> {
  // The engine reports its own faults here, with a stack; the answer tells of them.
  console.error = () => {};
  const engine = await loadEngine(maxEngineBytes);
  port.on("message", (request: VrlRequest) => port.postMessage(answer(engine, request)));
  port.postMessage("ready");
}

/** The engine compiles its program as it is imported, and offers no other way to bound its memory. */
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
