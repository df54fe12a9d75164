/** Answers MCP methods: combines what the provider publishes with the answers of the SDK's own handlers. */
import { isRecord } from "../../json/json.ts";
import { completeDocument, readCompletionRequest } from "../documents/completion.ts";
import { LIST_START, type ListPosition, listPublished, readCursor, writeCursor } from "./list.ts";
import { DocumentReader } from "../documents/reader.ts";
import { RpcError, RpcErrorCode } from "../../protocol/mcp.ts";
import { type Exchange, resourceNotFound, type RpcHandler, type RpcResult } from "./json_rpc.ts";
import type { Publications } from "../publications.ts";
import type { ClientSubscriptions } from "./session.ts";

export interface AnswerContext {
  readonly publications: Publications;
  /** The most windows and documents in one page of `resources/list`. */
  readonly pageSize: number;
}

/** The answers to clients of any revision of MCP, by method. */
export function answersFor(context: AnswerContext): ReadonlyMap<string, RpcHandler> {
  return new Map<string, RpcHandler>([
    ["resources/list", (exchange) => listResources(exchange, context)],
    ["resources/templates/list", (exchange) => listTemplates(exchange, context)],
    ["resources/read", (exchange) => readResource(exchange, context)],
    ["completion/complete", (exchange) => complete(exchange, context)],
  ]);
}

/** The answers to requests that MCP has no more since 2026-07-28, by method. */
export function subscriptionAnswers(
  publications: Publications,
  subscriptions: ClientSubscriptions,
): ReadonlyMap<string, RpcHandler> {
  return new Map<string, RpcHandler>([
    ["resources/subscribe", (exchange) => subscribe(exchange, { publications, subscriptions })],
    ["resources/unsubscribe", (exchange) => unsubscribe(exchange, { publications, subscriptions })],
  ]);
}

/** Lists all pages of the SDK's handler first, then the published windows and documents. */
async function listResources(exchange: Exchange, context: AnswerContext): Promise<RpcResult> {
  const cursor = readCursor(exchange.params["cursor"]);
  if ("part" in cursor) return await listOwn(exchange, { ...context, position: cursor });
  const { cursor: _, ...params } = exchange.params;
  const listed = await nextOr(exchange, {
    params: cursor.sdk === undefined ? params : { ...params, cursor: cursor.sdk },
    absent: { resources: [] },
  });
  const { nextCursor, ...theirs } = listed;
  if (typeof nextCursor === "string") {
    return { ...theirs, nextCursor: writeCursor({ sdk: nextCursor }) };
  }
  const own = await listOwn(exchange, { ...context, position: LIST_START });
  return { ...theirs, ...own, resources: [...toArray(theirs["resources"]), ...own.resources] };
}

async function listOwn(
  exchange: Exchange,
  { publications, pageSize, position }: AnswerContext & { readonly position: ListPosition },
) {
  const { resources, next } = await listPublished(publications, { exchange, position, pageSize });
  const nextCursor = next === undefined ? undefined : writeCursor(next);
  return nextCursor === undefined ? { resources } : { resources, nextCursor };
}

async function listTemplates(exchange: Exchange, { publications }: AnswerContext): Promise<RpcResult> {
  const theirs = await nextOr(exchange, { absent: { resourceTemplates: [] } });
  if (typeof theirs["nextCursor"] === "string") return theirs;
  const own = publications.documents.flatMap(({ templates }) => templates);
  return { ...theirs, resourceTemplates: [...toArray(theirs["resourceTemplates"]), ...own] };
}

async function readResource(exchange: Exchange, { publications }: AnswerContext): Promise<RpcResult> {
  const { uri } = exchange.params;
  if (typeof uri !== "string") return await exchange.next();
  const content = await publications.read(uri, exchange);
  if (content !== undefined) return { contents: [content] };
  try {
    return await exchange.next();
  } catch (error) {
    throw isUnknownToSdk(error, uri) ? resourceNotFound(uri, error) : error;
  }
}

/**
 * Whether the SDK has no such resource. MCP requires -32002 before 2026-07-28, but both versions of the SDK answer
 * -32602; and for a URI that is not a URL version 1 answers -32603, version 2 -32602 with a reason.
 */
function isUnknownToSdk(error: unknown, uri: string): boolean {
  if (!(error instanceof RpcError)) return false;
  switch (error.code) {
    case RpcErrorCode.METHOD_NOT_FOUND:
      return true;
    case RpcErrorCode.INVALID_PARAMS:
      return isUnknownToVersion2(error.data, uri) ||
        error.message.endsWith(`Resource ${URL.parse(uri)?.href} not found`);
    case RpcErrorCode.INTERNAL_ERROR:
      return !URL.canParse(uri);
    default:
      return false;
  }
}

/** "Not found" of version 2 has the URI as its only data. */
function isUnknownToVersion2(data: unknown, uri: string): boolean {
  if (!isRecord(data) || data["uri"] !== uri) return false;
  return Object.keys(data).length === 1 || data["reason"] === "invalid_uri";
}

interface SubscriptionContext {
  readonly publications: Publications;
  readonly subscriptions: ClientSubscriptions;
}

/** `McpServer` does not support subscriptions, so subscriptions to the author's own resources are also kept here. */
async function subscribe(
  exchange: Exchange,
  { publications, subscriptions }: SubscriptionContext,
): Promise<RpcResult> {
  const { uri } = exchange.params;
  if (typeof uri !== "string") throw new RpcError(RpcErrorCode.INVALID_PARAMS, "The uri is not a string");
  const result = publications.serves(uri) ? {} : await nextOr(exchange, { absent: {} });
  subscriptions.add(uri);
  return result;
}

async function unsubscribe(
  exchange: Exchange,
  { publications, subscriptions }: SubscriptionContext,
): Promise<RpcResult> {
  const { uri } = exchange.params;
  if (typeof uri !== "string") throw new RpcError(RpcErrorCode.INVALID_PARAMS, "The uri is not a string");
  subscriptions.delete(uri);
  return publications.serves(uri) ? {} : await nextOr(exchange, { absent: {} });
}

async function complete(exchange: Exchange, { publications }: AnswerContext): Promise<RpcResult> {
  const { ref } = exchange.params;
  const template = isRecord(ref) && ref["type"] === "ref/resource" ? ref["uri"] : undefined;
  const documents = publications.documents.find(({ templates }) =>
    templates.some(({ uriTemplate }) => uriTemplate === template)
  );
  const request = readCompletionRequest(exchange.params);
  if (documents !== undefined && request !== undefined) {
    return { completion: await completeDocument(new DocumentReader(documents.source, exchange), request) };
  }
  try {
    return await exchange.next();
  } catch (error) {
    if (!isMethodNotFound(error)) throw error;
    throw new RpcError(RpcErrorCode.INVALID_PARAMS, "No completion for this reference", {
      cause: error,
    });
  }
}

/** The answer of the SDK's own handler, or `absent` when it has no handler. */
async function nextOr(
  exchange: Exchange,
  { params, absent }: { readonly params?: Record<string, unknown>; readonly absent: RpcResult },
): Promise<RpcResult> {
  try {
    return await exchange.next(params);
  } catch (error) {
    if (isMethodNotFound(error)) return absent;
    throw error;
  }
}

function isMethodNotFound(error: unknown): boolean {
  return error instanceof RpcError && error.code === RpcErrorCode.METHOD_NOT_FOUND;
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
