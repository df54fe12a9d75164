/** Requests from the Server: to their handler, and an answer to every one of them. */
import type { Logger } from "../log.ts";
import type { IncomingEvent } from "../link/connect.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import {
  badRequest,
  describeError,
  isRecord,
  readRequestId,
  SmcpError,
  toErrorAck,
} from "../protocol/errors.ts";
import {
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_RESOURCES_EVENT,
  GET_TOOLS_EVENT,
  READ_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
} from "../protocol/events.ts";
import { handleGetConfig } from "./handlers/get_config.ts";
import { handleGetDesktop } from "./handlers/get_desktop.ts";
import { handleGetDpe, type ResolveDpe } from "./handlers/get_dpe.ts";
import { handleGetFinder } from "./handlers/get_finder.ts";
import { handleGetResources } from "./handlers/get_resources.ts";
import { handleGetTools } from "./handlers/get_tools.ts";
import { handleReadResource } from "./handlers/read_resource.ts";
import { handleToolCall } from "./handlers/tool_call.ts";
import type { McpHost } from "./host.ts";
import { failureResult } from "./tool_results.ts";

/** What the handlers work with. */
export interface RequestContext {
  readonly host: McpHost;
  readonly resolveDpe: ResolveDpe | undefined;
}

const TOO_MANY =
  "Cannot answer: too many requests of this office wait already; try again when some have ended";

type Handle = (context: RequestContext, body: unknown) => unknown;

const HANDLERS: ReadonlyMap<string, Handle> = new Map<string, Handle>([
  [TOOL_CALL_EVENT, ({ host }, body) => handleToolCall(host, body)],
  [GET_TOOLS_EVENT, ({ host }, body) => handleGetTools(host, body)],
  [GET_CONFIG_EVENT, ({ host }, body) => handleGetConfig(host, body)],
  [GET_DESKTOP_EVENT, ({ host }, body) => handleGetDesktop(host, body)],
  [GET_FINDER_EVENT, ({ host }, body) => handleGetFinder(host, body)],
  [READ_RESOURCE_EVENT, ({ host }, body) => handleReadResource(host, body)],
  [GET_RESOURCES_EVENT, ({ host }, body) => handleGetResources(host, body)],
  [GET_DPE_EVENT, ({ host, resolveDpe }, body) => handleGetDpe(host, body, resolveDpe)],
]);

/** The requests of an office, of which so many may wait for their answers at once, whether they asked for one or not. */
export class OfficeRequests {
  readonly #context: RequestContext;
  #open = 0;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Answers a request, whatever happens. Never rejects. */
  async answer(incoming: IncomingEvent): Promise<void> {
    const isFull = this.#open >= this.#context.host.callLimits.maxRequests;
    this.#open++;
    try {
      await answerRequest({ ...this.#context, isFull }, incoming);
    } finally {
      this.#open--;
    }
  }
}

async function answerRequest(
  context: RequestContext & { readonly isFull: boolean },
  incoming: IncomingEvent,
): Promise<void> {
  const { event, body, reply } = incoming;
  const request = { event, reqId: readRequestId(body) };
  let answer: unknown;
  try {
    const handle = HANDLERS.get(event);
    if (context.isFull) throw new SmcpError(ErrorCode.INTERNAL_ERROR, TOO_MANY);
    if (handle === undefined) throw badRequest("event", `This Computer does not serve "${event}"`);
    answer = await handle(context, body);
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    answer = toErrorAck(redacted(error, context.host), request);
  }
  try {
    reply?.(answer);
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    reply?.(event === TOOL_CALL_EVENT ? tooLargeResult(error) : toErrorAck(error, request));
  }
}

/** An answer that does not fit on the connection: a tool call's failures are results. */
function tooLargeResult(error: unknown): unknown {
  const message = error instanceof SmcpError ? error.message : "Cannot send the result";
  return failureResult(message, { error_code: ErrorCode.PAYLOAD_TOO_LARGE });
}

/** An MCP server may repeat in its error what it was configured with. */
function redacted(error: unknown, host: McpHost): unknown {
  if (!(error instanceof SmcpError)) return error;
  const { code, message, details } = error;
  return new SmcpError(code, host.redact(message), {
    cause: error,
    ...(details === undefined ? {} : { details }),
  });
}

function logFailure(log: Logger, { event, body }: IncomingEvent, error: unknown): void {
  const req_id = isRecord(body) ? body["req_id"] : undefined;
  const code = error instanceof SmcpError ? error.code : ErrorCode.INTERNAL_ERROR;
  log.warn("request failed", { event, req_id, code, error: describeError(error) });
}
