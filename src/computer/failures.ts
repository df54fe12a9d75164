/** What an MCP server's failure to read means in the protocol's codes. */
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../mcp/errors.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { isRecord } from "../json.ts";
import { type ErrorDetails, SmcpError } from "../protocol/errors.ts";
import { fitsApproximately } from "../protocol/size.ts";
import { logCommandFor } from "./log_command.ts";
import type { ReadRoute } from "./resources/route.ts";

/** MCP's code for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;

/** The most of an MCP server's own data that is passed on with its error, in bytes. */
const MAX_DATA_BYTES = 16 * 1024;

/** Turns what a read or a list threw into the error that the Agent gets (`docs/protocol/finder.md#error-path`). */
export function toReadError(error: unknown, route: Pick<ReadRoute, "server"> & Partial<ReadRoute>): unknown {
  const mcp_server = route.server.name;
  if (error instanceof ServerAnswerError) return fromAnswer(error, route);
  if (error instanceof ServerTimeoutError) {
    return smcpError(
      ErrorCode.TIMEOUT,
      `MCP server "${mcp_server}" did not answer in time`,
      { mcp_server },
      error,
    );
  }
  if (error instanceof ServerAuthorizationError) {
    return error.status === 401
      ? smcpError(
        ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
        `MCP server "${mcp_server}" needs a valid credential: check the headers in the Computer's config`,
        { mcp_server },
        error,
      )
      : smcpError(
        ErrorCode.TOOL_AUTHORIZATION_FAILED,
        `MCP server "${mcp_server}" does not allow this: check what the configured credential may do`,
        { mcp_server },
        error,
      );
  }
  if (error instanceof ServerNotRunningError) {
    return smcpError(ErrorCode.INTERNAL_ERROR, `MCP server "${mcp_server}" is not running`, {
      mcp_server,
      state: route.server.status,
    }, error);
  }
  return error;
}

function fromAnswer(
  error: ServerAnswerError,
  route: Pick<ReadRoute, "server"> & Partial<ReadRoute>,
): SmcpError {
  const code = finderCode(error);
  if (code !== undefined) {
    const details = answerDetails(error.rpcData) ?? knownDetails(code, route);
    return smcpError(code, error.message, details, error);
  }
  if (error.rpcCode === RESOURCE_NOT_FOUND && route.uri !== undefined) return notFound(error, route);
  const mcp_server = route.server.name;
  const command = logCommandFor(error, mcp_server);
  const pointer = command === undefined ? "" : `; "${command}" on its Computer may say why`;
  return smcpError(
    ErrorCode.INTERNAL_ERROR,
    `MCP server "${mcp_server}" failed: ${error.message}${pointer}`,
    {
      mcp_server,
      code: error.rpcCode,
      ...(isWorthKeeping(error.rpcData) ? { data: error.rpcData } : {}),
    },
    error,
  );
}

/** 4201–4203, which a server gives as its JSON-RPC code or, where its SDK allows only JSON-RPC's own, in `data.code`. */
function finderCode({ rpcCode, rpcData }: ServerAnswerError): number | undefined {
  const codes = [rpcCode, isRecord(rpcData) ? rpcData["code"] : undefined];
  return codes.find((code) =>
    typeof code === "number" && code >= ErrorCode.DOCUMENT_NOT_FOUND && code <= ErrorCode.ELEMENT_NOT_FOUND
  ) as number | undefined;
}

/** What the URI and the known documents tell of an error; used where its server says nothing of it (`docs/protocol/finder.md#error-path`). */
function knownDetails(code: number, { dpe, pageCount: page_count }: Partial<ReadRoute>): ErrorDetails {
  if (dpe === undefined) return {};
  const { docRef: doc_ref, pageIndex: page_index, elementId: element_id } = dpe;
  const details = code === ErrorCode.PAGE_OUT_OF_RANGE
    ? { doc_ref, page_index, page_count }
    : code === ErrorCode.ELEMENT_NOT_FOUND
    ? { doc_ref, element_id }
    : { doc_ref };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

function isWorthKeeping(data: unknown): boolean {
  return data !== undefined && data !== null && fitsApproximately(data, MAX_DATA_BYTES);
}

function answerDetails(data: unknown): ErrorDetails | undefined {
  if (!isRecord(data) || !isWorthKeeping(data)) return undefined;
  if (isRecord(data["details"])) return data["details"];
  const { code: _code, message: _message, ...details } = data;
  return Object.keys(details).length === 0 ? undefined : details;
}

/** MCP knows one "not found"; the URI's level tells what was not, once the document is known to exist. */
function notFound(error: ServerAnswerError, route: Partial<ReadRoute>): SmcpError {
  const { uri, dpe, isKnownDocument } = route;
  if (dpe === undefined) return smcpError(ErrorCode.NOT_FOUND, "Resource not found", { uri }, error);
  const level = isKnownDocument === true ? dpe.level : 1;
  const [code, message] = level === 2
    ? [ErrorCode.PAGE_OUT_OF_RANGE, "Page out of range"] as const
    : level === 3
    ? [ErrorCode.ELEMENT_NOT_FOUND, "Element not found"] as const
    : [ErrorCode.DOCUMENT_NOT_FOUND, "Document not found"] as const;
  return smcpError(code, message, knownDetails(code, route), error);
}

function smcpError(
  code: number,
  message: string,
  details: ErrorDetails | undefined,
  cause: unknown,
): SmcpError {
  return new SmcpError(code, message, { cause, ...(details === undefined ? {} : { details }) });
}
