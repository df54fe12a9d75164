/** What this kit does for one client: answers requests, and tells it of changes, each in the revision that it speaks. */
import { isRecord } from "../../json/json.ts";
import { type AnswerContext, answersFor, subscriptionAnswers } from "./answers.ts";
import { RpcError, RpcErrorCode, STATELESS_VERSION } from "../../protocol/mcp.ts";
import { type RpcHandler, type RpcRequest, toErrorBody } from "./json_rpc.ts";
import { Broadcast, type Hearer, Session, type SessionWire } from "./session.ts";

/** The member of `_meta` by which each request of that revision tells the revision. */
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

export interface ConversationContext extends AnswerContext {
  readonly wire: SessionWire;
  /** How long what was read may be used without another request, in milliseconds. */
  readonly ttlMs: number;
}

/** One client's share of what is published. */
export interface Conversation {
  readonly hearer: Hearer;
  /** The function that answers this request; `undefined` leaves it to the SDK. */
  answerTo(request: RpcRequest): RpcHandler | undefined;
  /** Called when the client has sent `notifications/initialized`. */
  onInitialized(): void;
  close(): void;
}

/**
 * Begins to serve a client.
 *
 * @param revision the revision of MCP that the SDK's server has agreed on; `undefined` before a handshake
 */
export function openConversation(
  revision: string | undefined,
  context: ConversationContext,
): Conversation {
  const hasHandshake = revision === undefined || revision < STATELESS_VERSION;
  return hasHandshake ? openWithHandshake(context) : openWithoutHandshake(context);
}

function openWithHandshake(context: ConversationContext): Conversation {
  const session = new Session(context.wire);
  const answers = new Map([
    ...answersFor(context),
    ...subscriptionAnswers(context.publications, session.subscriptions),
  ]);
  return {
    hearer: session,
    answerTo: ({ method }) => answers.get(method),
    onInitialized: () => session.markInitialized(),
    close: () => session.close(),
  };
}

function openWithoutHandshake(context: ConversationContext): Conversation {
  const broadcast = new Broadcast(context.wire);
  const answers = answersFor(context);
  return {
    hearer: broadcast,
    answerTo: (request) => {
      const answer = answers.get(request.method);
      if (answer === undefined || !namesRevision(request)) return undefined;
      return completed(answer, request.method === "completion/complete" ? undefined : context.ttlMs);
    },
    onInitialized() {},
    close: () => broadcast.close(),
  };
}

/** Whether a request tells its revision. The SDK refuses those that do not. */
function namesRevision({ params }: RpcRequest): boolean {
  const meta = params?.["_meta"];
  return isRecord(meta) && REVISION_KEY in meta;
}

/**
 * Completes an answer as 2026-07-28 requires: its kind, how long this client alone may use it (`undefined` for an answer
 * that nobody keeps), and the code of "not found".
 */
function completed(answer: RpcHandler, ttlMs: number | undefined): RpcHandler {
  const members = ttlMs === undefined ? {} : { ttlMs, cacheScope: "private" };
  return async (exchange) => {
    try {
      return { resultType: "complete", ...members, ...await answer(exchange) };
    } catch (error) {
      const { code, message, data } = toErrorBody(error).body;
      if (code !== RpcErrorCode.RESOURCE_NOT_FOUND) throw error;
      throw new RpcError(RpcErrorCode.INVALID_PARAMS, message, { data, cause: error });
    }
  };
}
