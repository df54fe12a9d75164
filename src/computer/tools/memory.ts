/** Calls by their request id: a repeated call gets the running or the remembered answer, and the tool runs once. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest } from "../../protocol/errors.ts";
import { approximateSizeBytes } from "../../protocol/size.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import { failureResult } from "./results.ts";

/** The most answers that are remembered. */
const MAX_ANSWERS = 256;
/** The most that the remembered answers may take, in bytes. */
const MAX_ANSWERS_BYTES = 16 * 1024 * 1024;

/** In place of an answer that is too large to be remembered: the tool must not run again. */
const NOT_KEPT = "The tool has run for this request already, and its result is too large to be given again";

interface RememberedCall {
  readonly fingerprint: string;
  answer: Promise<CallToolResult>;
  /** 0 while the call runs. */
  sizeBytes: number;
}

/** Remembers calls while the Computer is in its office with the same Agent, also over a lost connection that returns. */
export class CallMemory {
  readonly #calls = new Map<string, RememberedCall>();
  #sizeBytes = 0;

  /** Whether a call with the same `agent` and `req_id` runs or is remembered. */
  has(request: ToolCallReq): boolean {
    return this.#calls.has(keyOf(request));
  }

  /**
   * Runs a call, unless one with the same `agent` and `req_id` runs or is remembered.
   *
   * @throws {SmcpError} 400 when that one was for another tool or other parameters.
   */
  once(request: ToolCallReq, run: () => Promise<CallToolResult>): Promise<CallToolResult> {
    const key = keyOf(request);
    const fingerprint = JSON.stringify([request.tool_name, request.params]);
    const earlier = this.#calls.get(key);
    if (earlier !== undefined) {
      if (earlier.fingerprint === fingerprint) return earlier.answer;
      throw badRequest("req_id", `Cannot run request "${request.req_id}" again: it was another call`);
    }
    const call: RememberedCall = { fingerprint, answer: run(), sizeBytes: 0 };
    this.#calls.set(key, call);
    call.answer.then((answer) => this.#remember(key, call, answer)).catch(() => this.#calls.delete(key));
    return call.answer;
  }

  /** Forgets every call; those that run go on. */
  clear(): void {
    this.#calls.clear();
    this.#sizeBytes = 0;
  }

  #remember(key: string, call: RememberedCall, answer: CallToolResult): void {
    if (this.#calls.get(key) !== call) return;
    call.sizeBytes = approximateSizeBytes(answer) + call.fingerprint.length;
    if (call.sizeBytes > MAX_ANSWERS_BYTES) {
      call.answer = Promise.resolve(failureResult(NOT_KEPT, { error_code: ErrorCode.PAYLOAD_TOO_LARGE }));
      call.sizeBytes = NOT_KEPT.length + call.fingerprint.length;
    }
    this.#sizeBytes += call.sizeBytes;
    for (const [oldest, { sizeBytes }] of this.#calls) {
      if (this.#calls.size <= MAX_ANSWERS && this.#sizeBytes <= MAX_ANSWERS_BYTES) return;
      if (sizeBytes === 0) continue;
      this.#calls.delete(oldest);
      this.#sizeBytes -= sizeBytes;
    }
  }
}

function keyOf({ agent, req_id }: ToolCallReq): string {
  return JSON.stringify([agent, req_id]);
}
