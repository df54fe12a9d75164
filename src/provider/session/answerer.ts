/** Which requests of a client this kit answers, and how, in the revision of MCP that the client speaks. */
import { isRecord } from "../../json/json.ts";
import { RpcError, RpcErrorCode, VERSION_MEMBER } from "../../protocol/mcp.ts";
import { type AnswerContext, answersFor, subscriptionAnswers } from "./answers.ts";
import { type RpcHandler, type RpcRequest, toErrorBody } from "./json_rpc.ts";
import type { Session } from "./session.ts";

/** Finds the function that answers a request; `undefined` leaves the request to the SDK. */
export type Answerer = (request: RpcRequest) => RpcHandler | undefined;

/** @param context `ttlMs`: how long what was read may be used without another request, in milliseconds. */
export function answererFor(
  { subscriptions }: Session,
  { ttlMs, ...context }: AnswerContext & { readonly ttlMs: number },
): Answerer {
  const answers = answersFor(context);
  if (subscriptions !== undefined) {
    const all = new Map([...answers, ...subscriptionAnswers(context.publications, subscriptions)]);
    return ({ method }) => all.get(method);
  }
  return (request) => {
    const answer = answers.get(request.method);
    if (answer === undefined || !namesRevision(request)) return undefined;
    return completed(answer, request.method === "completion/complete" ? undefined : ttlMs);
  };
}

/** Whether a request tells its revision. The SDK refuses those that do not. */
function namesRevision({ params }: RpcRequest): boolean {
  const meta = params?.["_meta"];
  return isRecord(meta) && VERSION_MEMBER in meta;
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
