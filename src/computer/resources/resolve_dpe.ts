/** `client:get_dpe`. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { parseGetDpeReq } from "../../protocol/parse.ts";
import type { DpeResource, GetDpeReq, GetDpeRet, ReadResourceRet } from "../../protocol/resources.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { isValidDpeUri } from "../../uri/dpe_uri.ts";
import type { McpHost } from "../host.ts";
import { readResource } from "./reader.ts";

/** What a resolver may use. */
export interface ResolveDpeTools {
  /** Reads a `dpe://` URI through this Computer. */
  readonly read: (uri: string) => Promise<ReadResourceRet>;
  /** Aborted when the request is out of time. */
  readonly signal: AbortSignal;
}

/** Turns a `dpe://` URI into an address from which an Agent can fetch the document by itself. */
export type ResolveDpe = (uri: string, tools: ResolveDpeTools) => Promise<DpeResource>;

export async function handleGetDpe(
  host: McpHost,
  body: unknown,
  resolveDpe: ResolveDpe | undefined,
): Promise<GetDpeRet> {
  const request = parseGetDpeReq(body);
  const { uri, req_id } = request;
  if (resolveDpe === undefined) {
    throw dpeError(ErrorCode.DPE_RESOLVER_NOT_CONFIGURED, "This Computer has no resolver for documents", {
      uri,
    });
  }
  if (!isValidDpeUri(uri)) throw dpeError(ErrorCode.DPE_RESOLVER_INVALID_URI, "Invalid dpe:// URI", { uri });
  return { resource: await resolve(host, request, resolveDpe), req_id };
}

async function resolve(host: McpHost, request: GetDpeReq, resolveDpe: ResolveDpe): Promise<DpeResource> {
  const { uri, timeout } = request;
  using deadline = new Deadline(timeoutMsOf(request), {
    reason: () => new TypeError("Cannot resolve the document: out of time"),
  });
  const { signal } = deadline;
  const read = (uri: string) =>
    readResource({ uri, ...(timeout === undefined ? {} : { timeout }) }, {
      fleet: host.fleet,
      directory: host.resources,
      signal,
    });
  try {
    return await abortable(resolveDpe(uri, { read, signal }), signal);
  } catch (cause) {
    const reason = signal.aborted
      ? "timeout"
      : cause instanceof SmcpError
      ? cause.message
      : "the resolver failed";
    throw dpeError(ErrorCode.DPE_RESOLUTION_FAILED, "Cannot resolve the document", { uri, reason }, cause);
  }
}

function dpeError(code: number, message: string, details: ErrorDetails, cause?: unknown): SmcpError {
  return new SmcpError(code, message, { details, cause });
}
