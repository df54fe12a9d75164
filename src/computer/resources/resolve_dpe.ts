/** `client:get_dpe`: turns a document's URI into an address from which the Agent fetches the document itself. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { DpeResource, GetDpeReq, ReadResourceRet } from "../../protocol/resources.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { isValidDpeUri } from "../../uri/dpe_uri.ts";
import { readResource } from "./read.ts";
import type { ResourceRoutes } from "./route.ts";

/** What a resolver may use. */
export interface ResolveDpeTools {
  /** Reads a `dpe://` URI through this Computer. */
  readonly read: (uri: string) => Promise<ReadResourceRet>;
  /** Aborted at the time-out of the request. */
  readonly signal: AbortSignal;
}

/** Turns a `dpe://` URI into an address from which an Agent can fetch the document. */
export type ResolveDpe = (uri: string, tools: ResolveDpeTools) => Promise<DpeResource>;

/**
 * Runs the resolver of a Computer (`docs/protocol/finder.md#fetching-a-file`).
 *
 * @throws {SmcpError} 4011 without a resolver, 4012 for an invalid URI, 4013 when the resolver fails or is too slow.
 */
export async function resolveDocument(
  request: GetDpeReq,
  options: { readonly resolveDpe: ResolveDpe | undefined; readonly routes: ResourceRoutes },
): Promise<DpeResource> {
  const { uri, timeout } = request;
  const { resolveDpe, routes } = options;
  if (resolveDpe === undefined) {
    const message = "Cannot resolve the document: this Computer has no resolver";
    throw new SmcpError(ErrorCode.DPE_RESOLVER_NOT_CONFIGURED, message, { details: { uri } });
  }
  if (!isValidDpeUri(uri)) {
    throw new SmcpError(ErrorCode.DPE_RESOLVER_INVALID_URI, "Invalid dpe:// URI", { details: { uri } });
  }
  using deadline = new Deadline(timeoutMsOf(request), {
    reason: () => new TypeError("Cannot resolve the document: no answer in time"),
  });
  const { signal } = deadline;
  const tools = {
    read: (uri: string) =>
      readResource({ uri, ...(timeout === undefined ? {} : { timeout }) }, { routes, signal }),
    signal,
  };
  try {
    return await abortable(resolveDpe(uri, tools), signal);
  } catch (cause) {
    const reason = signal.aborted
      ? "timeout"
      : cause instanceof SmcpError
      ? cause.message
      : "the resolver failed";
    const message = "Cannot resolve the document";
    throw new SmcpError(ErrorCode.DPE_RESOLUTION_FAILED, message, { details: { uri, reason }, cause });
  }
}
