/** Receives the requests of an office and sends exactly one answer to each of them. */
import { delay } from "../async/backoff.ts";
import { rateOf, TokenBucket } from "../async/token_bucket.ts";
import type { IncomingEvent } from "../link/connect.ts";
import type { Logger } from "../log.ts";
import {
  assertShallow,
  badRequest,
  payloadTooLarge,
  readRequestId,
  SmcpError,
  withDetailsTold,
} from "../protocol/errors.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { fitsApproximately, isRecord, longTextBytes, withStrings } from "../json/json.ts";
import { describeError, shorten } from "../text/text.ts";
import { handleRequest } from "../tracing.ts";
import { parseAgentCallData } from "../protocol/office_requests.ts";
import {
  ANSWER_INPUT_EVENT,
  ASK_TOOL_CALL_EVENT,
  CANCEL_TOOL_CALL_NOTIFICATION,
  CLIENT_EVENT_PREFIX,
  GET_PROMPT_EVENT,
  PUT_BLOB_EVENT,
  READ_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
} from "../protocol/events.ts";
import { noteRead } from "./agent_reads.ts";
import { HANDLERS, type HandlerScope, SERVED_WHILE_PAUSED } from "./handlers.ts";
import type { McpHost } from "./host.ts";
import type { OfficeListener } from "./office/office_link.ts";
import { emptyBinaries, type LargeAnswer, type Oversize, shrink } from "./office/large_answers.ts";
import type { AgentTexts } from "./secrets/agent_texts.ts";
import type { ResolveDpe } from "./resources/resolve_dpe.ts";
import { failureResult } from "./tools/results.ts";
import type { Uploads } from "./uploads/uploads.ts";

export interface RequestContext {
  readonly host: McpHost;
  readonly resolveDpe: ResolveDpe | undefined;
  readonly uploads: Uploads;
}

/** The size above which an answer waits until other work of the process has run. */
const LONG_ANSWER_BYTES = 1_048_576;
const MAX_LOGGED_LENGTH = 512;
/** The lines about requests that contain a secret. */
const ALARM_LINES = rateOf(20, 10_000);
const TOO_MANY = "Cannot answer: too many requests of this office are open; try again later";

/** The requests of an office. At most `maxRequests` are answered at the same time; more get an error. */
export class OfficeRequests implements OfficeListener {
  readonly #context: RequestContext;
  #open = 0;
  readonly #alarms = new TokenBucket(ALARM_LINES);
  /** Refused since the last one that was taken. */
  #refused = 0;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Takes what comes from the office: a request, a cancel, or news of its members. */
  readonly onEvent = (incoming: IncomingEvent): void => {
    const { event, body } = incoming;
    const { host } = this.#context;
    if (event === CANCEL_TOOL_CALL_NOTIFICATION) host.calls.cancel(parseAgentCallData(body).req_id);
    else if (event.startsWith(CLIENT_EVENT_PREFIX)) {
      this.answer(incoming).catch((error) => {
        host.log.error("cannot send an answer", { event, error: describeError(error) });
      });
    } else host.agent.onEvent(incoming);
  };

  readonly onJoined = (): void => this.#context.host.agent.onJoined();
  readonly onLeft = (): void => this.#context.host.agent.onLeft();
  readonly onLost = (): void => this.#context.host.agent.onLost();

  readonly onReturned = (): void => {
    const { host } = this.#context;
    host.skills.announce();
    host.agent.onJoined();
  };

  /** Answers a request; rejects only when its error answer cannot be sent. */
  async answer(incoming: IncomingEvent): Promise<void> {
    const { host } = this.#context;
    if (this.#open >= host.limits.maxRequests) return this.#refuse(incoming);
    if (this.#refused > 0) host.log.info("requests are taken again", { refused: this.#refused });
    this.#refused = 0;
    this.#open++;
    try {
      await answerRequest(this.#context, incoming, this.#alarms);
    } finally {
      this.#open--;
    }
  }

  /** Logs one line for all refusals in a row, so that a flood of requests does not flood the log. */
  #refuse({ event, reply }: IncomingEvent): void {
    if (this.#refused++ === 0) {
      this.#context.host.log.warn("requests are refused: too many of this office are open", {
        open: this.#open,
      });
    }
    const refusal = new SmcpError(ErrorCode.INTERNAL_ERROR, TOO_MANY);
    reply?.(this.#context.host.rules.toErrorAck(refusal, event));
  }
}

async function answerRequest(
  context: RequestContext,
  incoming: IncomingEvent,
  alarms: TokenBucket,
): Promise<void> {
  const { event, body, maxAnswerBytes } = incoming;
  const scope = { ...context, blobs: context.host.blobs.office, limitBytes: maxAnswerBytes };
  const toAck = (error: unknown) => context.host.rules.toErrorAck(error, event);
  // No answer repeats the bytes of an upload.
  const said = event === PUT_BLOB_EVENT && isRecord(body) ? { ...body, blob: undefined } : body;
  let texts: AgentTexts | undefined;
  const textsOf = () => texts ??= context.host.textsFor([event, said]);
  let answer: unknown;
  let kind = LARGE_ANSWERS.get(event);
  try {
    const handle = event === PUT_BLOB_EVENT && !context.host.rules.takesUploads
      ? undefined
      : HANDLERS.get(event);
    if (handle === undefined) throw badRequest("event", `This Computer does not serve "${event}"`);
    assertShallow(body);
    const { owner } = context.host.calls;
    const run = async () => {
      if (SERVED_WHILE_PAUSED.has(event)) return await handle(scope, body);
      const refuseInPause = () => {
        if (owner.isPaused) noteRead(context.host, incoming, { outcome: "refused" });
        owner.assertNotPaused();
      };
      refuseInPause();
      const answer = await handle(scope, body);
      // The owner may have paused the Computer meanwhile.
      refuseInPause();
      noteRead(context.host, incoming, { outcome: "ok", answer });
      return answer;
    };
    answer = await handleRequest(event, { reqId: readRequestId(body), attributes: attributesOf(body) }, run);
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    answer = toAck(textsOf().maskError(error));
    kind = undefined;
  }
  try {
    await send(answer, incoming, { scope, kind });
  } catch (error) {
    logFailure(context.host.log, incoming, error);
    incoming.reply?.(LARGE_ANSWERS.get(event) === "result" ? lostResult(error) : toAck(error));
  }
  if (context.host.hasSecrets && textsOf().isSuspicious && alarms.take()) {
    logSuspicion(context.host, incoming);
  }
}

/** What a span says of a request. */
function attributesOf(body: unknown): Record<string, string> {
  const { computer, tool_name: tool } = isRecord(body) ? body : {};
  return {
    ...(typeof computer === "string" ? { "a2c.computer": computer } : {}),
    ...(typeof tool === "string" ? { "gen_ai.tool.name": shorten(tool, MAX_LOGGED_LENGTH) } : {}),
  };
}

/** The answers that can be shrunk, by event. */
const LARGE_ANSWERS: ReadonlyMap<string, LargeAnswer> = new Map([
  [TOOL_CALL_EVENT, "result"],
  [ASK_TOOL_CALL_EVENT, "result"],
  [ANSWER_INPUT_EVENT, "result"],
  [READ_RESOURCE_EVENT, "read"],
  [GET_PROMPT_EVENT, "prompt"],
]);

/** Sends an answer. If it is too large for the connection, its largest parts are kept for the Agent to fetch. */
async function send(
  answer: unknown,
  incoming: IncomingEvent,
  { scope, kind }: { readonly scope: HandlerScope; readonly kind: LargeAnswer | undefined },
): Promise<void> {
  const { event, body } = incoming;
  // Reading, measuring and writing a long answer each block the event loop for a while.
  if (!fitsApproximately(answer, LONG_ANSWER_BYTES)) await delay(0);
  if (kind === undefined || !isRecord(answer)) return incoming.reply?.(answer);
  let smaller: Readonly<Record<string, unknown>> = answer;
  if (scope.host.rules.emptiesBinaries && kind === "result") {
    smaller = emptyBinaries(answer, scope.blobs);
  }
  for (let oversize = reply(smaller, incoming); oversize !== undefined; oversize = reply(smaller, incoming)) {
    const next = shrink(kind, smaller, { ...oversize, blobs: scope.blobs });
    if (next === undefined) throw payloadTooLarge(oversize);
    smaller = next;
    const message = "an answer is too large for one message; the Agent fetches its largest parts";
    scope.host.log.info(message, { event, req_id: readRequestId(body), ...oversize });
  }
}

/** Sends an answer if it fits; otherwise returns its size and the limit. */
function reply(
  answer: Readonly<Record<string, unknown>>,
  incoming: IncomingEvent,
): Oversize | undefined {
  const limit = incoming.maxAnswerBytes;
  // If the strings alone are too large, the rest need not be measured.
  const size = longTextBytes(answer);
  if (size > limit) return { size, limit };
  try {
    incoming.reply?.(withStrings(answer));
    return undefined;
  } catch (error) {
    const oversize = oversizeOf(error);
    if (oversize === undefined) throw error;
    return oversize;
  }
}

function oversizeOf(error: unknown): Oversize | undefined {
  if (!(error instanceof SmcpError) || error.code !== ErrorCode.PAYLOAD_TOO_LARGE) return undefined;
  const { size, limit } = error.details ?? {};
  return typeof size === "number" && typeof limit === "number" ? { size, limit } : undefined;
}

/** Tells the Agent that the tool has run, because another call could repeat its effects. */
function lostResult(error: unknown): unknown {
  const oversize = oversizeOf(error);
  const why = oversize === undefined
    ? "it cannot be sent"
    : `it has at least ${oversize.size} bytes, the connection takes ${oversize.limit}, and the Computer has no room to keep it`;
  return failureResult(`The tool has run, but its result is lost: ${why}`, {
    error_code: ErrorCode.PAYLOAD_TOO_LARGE,
  });
}

/** Somebody in the office knows a secret, or tries which of its guesses are masked. */
function logSuspicion(host: McpHost, { event, body }: IncomingEvent): void {
  const { agent, req_id } = isRecord(body) ? body : {};
  const textOf = (value: unknown) =>
    typeof value === "string" ? shorten(host.redact(value), MAX_LOGGED_LENGTH) : "";
  host.log.warn("a request of the office contains a secret of the configuration", {
    requester: textOf(agent) || host.agent.name,
    request: textOf(event),
    id: textOf(req_id),
  });
}

function logFailure(log: Logger, { event, body }: IncomingEvent, error: unknown): void {
  const req_id = readRequestId(body);
  if (!(error instanceof SmcpError)) {
    const code = ErrorCode.INTERNAL_ERROR;
    return log.warn("request failed", { event, req_id, code, error: describeError(error) });
  }
  const { code, details, message } = withDetailsTold(error);
  const mcp_server = details?.["mcp_server"];
  const uri = (isRecord(body) ? body["uri"] : undefined) ?? details?.["uri"];
  log.warn("request failed", {
    event,
    req_id,
    code,
    uri: typeof uri === "string" ? shorten(uri, MAX_LOGGED_LENGTH) : undefined,
    mcp_server: typeof mcp_server === "string" ? shorten(mcp_server, MAX_LOGGED_LENGTH) : undefined,
    error: message,
  });
}
