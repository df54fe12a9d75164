/** Repeated tool calls: a request that is sent again gets the answer of the first one, and the tool runs only once. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest } from "../../protocol/errors.ts";
import { approximateSizeBytes } from "../../json/measure.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import { failureResult } from "./results.ts";

const MAX_ANSWERS = 256;
const MAX_ANSWERS_BYTES = 16 * 1024 * 1024;

/** Replaces an answer that is too large to keep: the tool must not run again. */
const NOT_KEPT = "The tool has already run for this request, and its result is too large to be sent again";

export interface AnsweredCall {
  /** Its answer now: a question while one is open, else what comes next. */
  readonly call: { readonly answer: Promise<CallToolResult> };
  readonly result: Promise<CallToolResult>;
}

interface KeptCall {
  readonly fingerprint: string;
  call: AnsweredCall["call"];
  /** 0 while the call runs. */
  sizeBytes: number;
}

/**
 * The calls of one office by `agent` and `req_id`, running and answered. They are kept while the Computer is in the
 * office with the same Agent, also across a connection that is lost and comes back.
 */
export class RepeatedCalls {
  readonly #calls = new Map<string, KeptCall>();
  #sizeBytes = 0;

  /**
   * The answer of a call with the same `agent` and `req_id`; `undefined` when there was none.
   *
   * @throws {SmcpError} 400 when that call was for another tool or had other parameters.
   */
  answerOf(request: ToolCallReq): Promise<CallToolResult> | undefined {
    const earlier = this.#calls.get(keyOf(request));
    if (earlier === undefined || earlier.fingerprint === fingerprintOf(request)) return earlier?.call.answer;
    throw badRequest(
      "req_id",
      `Cannot use request id "${request.req_id}" again: it belongs to a different call`,
    );
  }

  /** Keeps a call that runs; one whose result rejects is forgotten. */
  keep(request: ToolCallReq, { call, result }: AnsweredCall): void {
    const key = keyOf(request);
    const kept: KeptCall = { fingerprint: fingerprintOf(request), call, sizeBytes: 0 };
    this.#calls.set(key, kept);
    result.then((last) => this.#measure(key, kept, last)).catch(() => {
      if (this.#calls.get(key) === kept) this.#calls.delete(key);
    });
  }

  clear(): void {
    this.#calls.clear();
    this.#sizeBytes = 0;
  }

  /** Counts an answer, and drops the oldest answers that exceed the bounds. */
  #measure(key: string, kept: KeptCall, result: CallToolResult): void {
    if (this.#calls.get(key) !== kept) return;
    kept.call = { answer: Promise.resolve(result) };
    kept.sizeBytes = approximateSizeBytes(result) + kept.fingerprint.length;
    if (kept.sizeBytes > MAX_ANSWERS_BYTES) {
      const notKept = failureResult(NOT_KEPT, { error_code: ErrorCode.PAYLOAD_TOO_LARGE });
      kept.call = { answer: Promise.resolve(notKept) };
      kept.sizeBytes = NOT_KEPT.length + kept.fingerprint.length;
    }
    this.#sizeBytes += kept.sizeBytes;
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

function fingerprintOf({ tool_name, params }: ToolCallReq): string {
  return JSON.stringify([tool_name, params]);
}
