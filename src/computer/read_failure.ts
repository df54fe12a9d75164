/** What an MCP server's failure to read means in the protocol's codes. */
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../mcp/errors.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { type ErrorDetails, isRecord, SmcpError } from "../protocol/errors.ts";
import type { ReadRoute } from "./read_route.ts";

/** MCP's code for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;

/** Turns what a read or a list threw into the error that the Agent gets (`finder-sdk-guide.md`, 错误处理). */
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
  if (code !== undefined) return smcpError(code, error.message, answerDetails(error.rpcData), error);
  if (error.rpcCode === RESOURCE_NOT_FOUND && route.uri !== undefined) return notFound(error, route);
  const mcp_server = route.server.name;
  return smcpError(ErrorCode.INTERNAL_ERROR, `MCP server "${mcp_server}" failed: ${error.message}`, {
    mcp_server,
    code: error.rpcCode,
  }, error);
}

/** 4201–4203, which a server gives as its JSON-RPC code or, where its SDK allows only JSON-RPC's own, in `data.code`. */
function finderCode({ rpcCode, rpcData }: ServerAnswerError): number | undefined {
  const codes = [rpcCode, isRecord(rpcData) ? rpcData["code"] : undefined];
  return codes.find((code) =>
    typeof code === "number" && code >= ErrorCode.DOCUMENT_NOT_FOUND && code <= ErrorCode.ELEMENT_NOT_FOUND
  ) as number | undefined;
}

function answerDetails(data: unknown): ErrorDetails | undefined {
  if (!isRecord(data)) return undefined;
  if (isRecord(data["details"])) return data["details"];
  const { code: _code, message: _message, ...details } = data;
  return details;
}

/** MCP knows one "not found"; the URI's level tells what was not, once the document is known to exist. */
function notFound(error: ServerAnswerError, { uri, dpe, isKnownDocument }: Partial<ReadRoute>): SmcpError {
  if (dpe === undefined) return smcpError(ErrorCode.NOT_FOUND, "Resource not found", { uri }, error);
  const { level, docRef: doc_ref, pageIndex: page_index, elementId: element_id } = dpe;
  if (isKnownDocument === true && level === 2) {
    return smcpError(ErrorCode.PAGE_OUT_OF_RANGE, "Page out of range", { doc_ref, page_index }, error);
  }
  if (isKnownDocument === true && level === 3) {
    return smcpError(ErrorCode.ELEMENT_NOT_FOUND, "Element not found", { doc_ref, element_id }, error);
  }
  return smcpError(ErrorCode.DOCUMENT_NOT_FOUND, "Document not found", { doc_ref }, error);
}

function smcpError(
  code: number,
  message: string,
  details: ErrorDetails | undefined,
  cause: unknown,
): SmcpError {
  return new SmcpError(code, message, { cause, ...(details === undefined ? {} : { details }) });
}
