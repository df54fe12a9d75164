/** Requests from the Server: to their handler, and an answer to every one of them. */
import { delay } from "../async/backoff.ts";
import type { IncomingEvent } from "../link/connect.ts";
import type { Logger } from "../log.ts";
import { assertShallow } from "../protocol/depth.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { isRecord } from "../json.ts";
import { badRequest, fromErrorAck, readRequestId, SmcpError, toErrorAck } from "../protocol/errors.ts";
import { describeError, shorten } from "../text.ts";
import {
  GET_BLOB_EVENT,
  GET_COMPLETION_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_RESOURCE_TEMPLATES_EVENT,
  GET_RESOURCE_UPDATES_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILL_EVENT,
  GET_SKILLS_EVENT,
  GET_TOOLS_EVENT,
  GET_WINDOWS_EVENT,
  READ_RESOURCE_EVENT,
  SUBSCRIBE_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
} from "../protocol/events.ts";
import { fitsApproximately } from "../protocol/size.ts";
import type { OfficeBlobs } from "./office/blob_store.ts";
import { handleGetBlob } from "./handlers/get_blob.ts";
import { handleGetCompletion } from "./handlers/get_completion.ts";
import { handleGetConfig } from "./handlers/get_config.ts";
import { handleGetDesktop } from "./handlers/get_desktop.ts";
import { handleGetDpe, type ResolveDpe } from "./resources/resolve_dpe.ts";
import { handleGetFinder } from "./handlers/get_finder.ts";
import { handleGetResourceTemplates } from "./handlers/get_resource_templates.ts";
import { handleGetResourceUpdates } from "./handlers/get_resource_updates.ts";
import { handleGetResources } from "./handlers/get_resources.ts";
import { handleGetSkill, handleGetSkills } from "./handlers/get_skills.ts";
import { handleGetTools } from "./handlers/get_tools.ts";
import { handleGetWindows } from "./handlers/get_windows.ts";
import { handleReadResource } from "./handlers/read_resource.ts";
import { handleSubscribeResource, handleUnsubscribeResource } from "./handlers/subscribe_resource.ts";
import { handleToolCall } from "./handlers/tool_call.ts";
import type { McpHost } from "./host.ts";
import { shrinkRead, shrinkResult } from "./office/large_answers.ts";
import { MAX_ERROR_LENGTH } from "./failures.ts";
import { failureResult } from "./tools/results.ts";

/** What the handlers work with. */
export interface RequestContext {
  readonly host: McpHost;
  readonly resolveDpe: ResolveDpe | undefined;
}

/** A longer answer waits until other work had its turn. */
const LONG_ANSWER_BYTES = 1_048_576;
const TOO_MANY = "Cannot answer: too many requests of this office are open; try again later";

/** What a handler knows of the request beside its body. */
interface RequestScope extends RequestContext {
  /** The blobs of the office that the request came from. */
  readonly blobs: OfficeBlobs;
  readonly maxAnswerBytes: number;
}

type Handle = (scope: RequestScope, body: unknown) => unknown;

const HANDLERS: ReadonlyMap<string, Handle> = new Map<string, Handle>([
  [TOOL_CALL_EVENT, ({ host }, body) => handleToolCall(host, body)],
  [GET_TOOLS_EVENT, ({ host, maxAnswerBytes }, body) => handleGetTools(host, body, maxAnswerBytes)],
  [GET_CONFIG_EVENT, ({ host, maxAnswerBytes }, body) => handleGetConfig(host, body, maxAnswerBytes)],
  [GET_DESKTOP_EVENT, ({ host, maxAnswerBytes }, body) => handleGetDesktop(host, body, maxAnswerBytes)],
  [GET_FINDER_EVENT, ({ host, maxAnswerBytes }, body) => handleGetFinder(host, body, maxAnswerBytes)],
  [READ_RESOURCE_EVENT, ({ host }, body) => handleReadResource(host, body)],
  [GET_RESOURCES_EVENT, ({ host, maxAnswerBytes }, body) => handleGetResources(host, body, maxAnswerBytes)],
  [
    GET_RESOURCE_TEMPLATES_EVENT,
    ({ host, maxAnswerBytes }, body) => handleGetResourceTemplates(host, body, maxAnswerBytes),
  ],
  [SUBSCRIBE_RESOURCE_EVENT, ({ host }, body) => handleSubscribeResource(host, body)],
  [UNSUBSCRIBE_RESOURCE_EVENT, ({ host }, body) => handleUnsubscribeResource(host, body)],
  [
    GET_RESOURCE_UPDATES_EVENT,
    ({ host, maxAnswerBytes }, body) => handleGetResourceUpdates(host, body, maxAnswerBytes),
  ],
  [GET_COMPLETION_EVENT, ({ host }, body) => handleGetCompletion(host, body)],
  [GET_BLOB_EVENT, ({ blobs, maxAnswerBytes }, body) => handleGetBlob(blobs, body, maxAnswerBytes)],
  [GET_WINDOWS_EVENT, ({ host, maxAnswerBytes }, body) => handleGetWindows(host, body, maxAnswerBytes)],
  [GET_SKILLS_EVENT, (_scope, body) => handleGetSkills(body)],
  [GET_SKILL_EVENT, (_scope, body) => handleGetSkill(body)],
  [GET_DPE_EVENT, ({ host, resolveDpe }, body) => handleGetDpe(host, body, resolveDpe)],
]);

/** The requests of an office, of which so many may wait for their answers at once, whether they asked for one or not. */
export class OfficeRequests {
  readonly #context: RequestContext;
  #open = 0;
  /** Refused since the last one that was taken. */
  #refused = 0;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Answers a request; rejects only when not even its failure can be sent. */
  async answer(incoming: IncomingEvent): Promise<void> {
    const { host } = this.#context;
    if (this.#open >= host.callLimits.maxRequests) return this.#refuse(incoming);
    if (this.#refused > 0) host.log.info("requests are taken again", { refused: this.#refused });
    this.#refused = 0;
    this.#open++;
    try {
      await answerRequest(this.#context, incoming);
    } finally {
      this.#open--;
    }
  }

  /** One line for all that are refused in a row: whoever sends so many could fill the log, too. */
  #refuse({ event, body, reply }: IncomingEvent): void {
    if (this.#refused++ === 0) {
      this.#context.host.log.warn("requests are refused: too many of this office are open", {
        open: this.#open,
      });
    }
    const refusal = new SmcpError(ErrorCode.INTERNAL_ERROR, TOO_MANY);
    reply?.(toErrorAck(refusal, { event, reqId: readRequestId(body) }));
  }
}

async function answerRequest(context: RequestContext, incoming: IncomingEvent): Promise<void> {
  const { event, body, maxAnswerBytes } = incoming;
  const scope = { ...context, blobs: context.host.blobs.office, maxAnswerBytes };
  const request = { event, reqId: readRequestId(body) };
  let answer: unknown;
  try {
    const handle = HANDLERS.get(event);
    if (handle === undefined) throw badRequest("event", `This Computer does not serve "${event}"`);
    assertShallow(body);
    answer = await handle(scope, body);
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    answer = toErrorAck(redacted(error, context.host), request);
  }
  try {
    await send(answer, incoming, scope);
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    incoming.reply?.(event === TOOL_CALL_EVENT ? lostResult(error) : toErrorAck(error, request));
  }
}

/** Sends an answer; of one that is too large for the connection what does not fit is kept to be fetched. */
async function send(answer: unknown, incoming: IncomingEvent, scope: RequestScope): Promise<void> {
  const { event, body, reply } = incoming;
  // What is long was read in this turn of the event loop, and will be measured and written: each takes long.
  if (!fitsApproximately(answer, LONG_ANSWER_BYTES)) await delay(0);
  try {
    reply?.(answer);
  } catch (error) {
    const shrink = event === TOOL_CALL_EVENT
      ? shrinkResult
      : event === READ_RESOURCE_EVENT
      ? shrinkRead
      : undefined;
    const oversize = oversizeOf(error);
    if (
      shrink === undefined || oversize === undefined || !isRecord(answer) ||
      fromErrorAck(answer) !== undefined
    ) throw error;
    const smaller = await shrink(answer, oversize, scope.blobs);
    if (smaller === undefined) throw error;
    reply?.(smaller);
    const req_id = readRequestId(body);
    scope.host.log.info(
      "an answer is too large for one message; its largest parts are kept for the Agent to fetch",
      {
        event,
        req_id,
        ...oversize,
      },
    );
  }
}

function oversizeOf(error: unknown): { size: number; limit: number } | undefined {
  if (!(error instanceof SmcpError) || error.code !== ErrorCode.PAYLOAD_TOO_LARGE) return undefined;
  const { size, limit } = error.details ?? {};
  return typeof size === "number" && typeof limit === "number" ? { size, limit } : undefined;
}

/** Whoever calls must know that the tool has run: to call it again may do again what it did. */
function lostResult(error: unknown): unknown {
  const oversize = oversizeOf(error);
  const why = oversize === undefined
    ? "it cannot be sent"
    : `it has ${oversize.size} bytes, this connection takes ${oversize.limit}, and there is no room to keep it`;
  return failureResult(`The tool has run, but its result is lost: ${why}`, {
    error_code: ErrorCode.PAYLOAD_TOO_LARGE,
  });
}

/** An MCP server may repeat in its error what it was configured with. */
function redacted(error: unknown, host: McpHost): unknown {
  if (!(error instanceof SmcpError)) return error;
  const { code, message, details } = error;
  return new SmcpError(code, shorten(host.redact(message), MAX_ERROR_LENGTH), {
    cause: error,
    ...(details === undefined ? {} : { details: host.redactDetails(details) }),
  });
}

function logFailure(log: Logger, { event, body }: IncomingEvent, error: unknown): void {
  const req_id = readRequestId(body);
  const code = error instanceof SmcpError ? error.code : ErrorCode.INTERNAL_ERROR;
  log.warn("request failed", { event, req_id, code, error: describeError(error) });
}
