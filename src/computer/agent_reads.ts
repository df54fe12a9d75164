/** What Agents have read, and what a pause has refused them, for the owner's history. */
import { isRecord } from "../json/json.ts";
import type { IncomingEvent } from "../link/connect.ts";
import { readRequestId } from "../protocol/errors.ts";
import {
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_PROMPT_EVENT,
  GET_SKILL_EVENT,
  GET_WINDOWS_EVENT,
  READ_RESOURCE_EVENT,
} from "../protocol/events.ts";
import { buildDpeUri, isValidDpeUri, parseDpeUri } from "../uri/dpe_uri.ts";
import type { McpHost } from "./host.ts";
import type { AgentRead } from "./tools/history.ts";

/** Writes what an Agent was given, or was refused, into the owner's history. */
export function noteRead(
  host: McpHost,
  { event, body }: Pick<IncomingEvent, "event" | "body">,
  { outcome, answer }: { readonly outcome: AgentRead["outcome"]; readonly answer?: unknown },
): void {
  if (!isRecord(body)) return;
  const { read, server, query } = readOf(event, body) ?? {};
  if (typeof read !== "string") return;
  const { agent: claimed } = body;
  const request = { req_id: readRequestId(body) ?? "", agent: typeof claimed === "string" ? claimed : "" };
  const caller = host.calls.owner.callerOf({ isLocal: false, request });
  // An observer reads, too, under the name that it states.
  const isObserver = caller.client === undefined && ![host.agent.name, ""].includes(request.agent);
  const by = isObserver ? { ...caller, agent: request.agent } : caller;
  const record = host.history.pushRead({
    ...by,
    read,
    query: typeof query === "string" ? query : undefined,
    server: typeof server === "string" ? server : undefined,
    documents: event === GET_FINDER_EVENT ? documentsOf(answer) : [],
    outcome,
  });
  host.events.tell({ type: "read", record });
}

/** What was read, by the event of the request and its members; `undefined` when it gives no content. */
function readOf(
  event: string,
  { uri, window, mcp_server, name, query }: Readonly<Record<string, unknown>>,
): { readonly read: unknown; readonly server?: unknown; readonly query?: unknown } | undefined {
  switch (event) {
    case READ_RESOURCE_EVENT:
      return { ...wholeOf(uri), server: mcp_server };
    case GET_DPE_EVENT:
      return wholeOf(uri);
    case GET_DESKTOP_EVENT:
    case GET_WINDOWS_EVENT:
      return { read: window ?? "desktop" };
    case GET_FINDER_EVENT:
      return { read: "finder", query };
    case GET_SKILL_EVENT:
      return { read: name };
    case GET_PROMPT_EVENT:
      return { read: name, server: mcp_server };
  }
}

/** The document of a page or an element, and what is searched in it; any other resource itself. */
function wholeOf(uri: unknown): { readonly read: unknown; readonly query?: string | undefined } {
  if (typeof uri !== "string" || !isValidDpeUri(uri)) return { read: uri };
  const { host, docRef, queryParams } = parseDpeUri(uri);
  return { read: buildDpeUri({ host, docRef }), query: queryParams["query"] };
}

/** The documents of which an answer of the Finder tells. */
function documentsOf(answer: unknown): string[] {
  if (!isRecord(answer) || !Array.isArray(answer["documents"])) return [];
  return answer["documents"].flatMap(({ uri }) => typeof uri === "string" ? [uri] : []);
}
