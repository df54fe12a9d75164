/** One client of the gateway: a server of MCP in front of the office. */
import { Server } from "@modelcontextprotocol/server";
import { Throttle } from "../async/throttle.ts";
import { PACKAGE_VERSION } from "../version.ts";
import { type CompletionParts, serveCompletion } from "./completion.ts";
import { type PromptHandlerParts, servePrompts } from "./prompts.ts";
import { type ResourceHandlerParts, serveResources, tellUpdates } from "./resources/handlers.ts";
import type { ListName } from "./list_name.ts";
import { serveTools, type ToolHandlerParts } from "./tool_handlers.ts";

/** How often a client is told that a list has changed, in milliseconds: a Computer that joins changes it several times. */
export const LIST_CHANGED_INTERVAL_MS = 200;
/** The most questions of one call to a client of 2025. */
const MAX_QUESTIONS = 64;

/** What a session is made of. */
export interface SessionParts
  extends ToolHandlerParts, ResourceHandlerParts, PromptHandlerParts, CompletionParts {
  /** What to tell a model about the office. */
  readonly instructions: string;
  /** Calls the listener when a list has changed, until the returned function is called. */
  readonly onListChanged: (listener: (list: ListName) => void) => () => void;
}

/** Makes the server for one client. What it holds is freed when it is closed. */
export function createSession(parts: SessionParts): Server {
  const server = new Server({ name: "a2c-smcp", title: "A2C-SMCP office", version: PACKAGE_VERSION }, {
    instructions: parts.instructions,
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
    },
    inputRequired: { maxRounds: MAX_QUESTIONS },
  });
  serveTools(server, parts);
  servePrompts(server, parts);
  serveCompletion(server, parts);
  serveResources(server, parts);
  if (parts.isPerRequest) return server;
  const endings = [tellUpdates(server, parts), followLists(server, parts.onListChanged)];
  server.onclose = () => {
    for (const end of endings) end();
  };
  return server;
}

const SENDERS = {
  tools: (server: Server) => server.sendToolListChanged(),
  resources: (server: Server) => server.sendResourceListChanged(),
  prompts: (server: Server) => server.sendPromptListChanged(),
} as const;

function followLists(server: Server, onListChanged: SessionParts["onListChanged"]): () => void {
  const send = (list: ListName) => {
    // A client that is gone, or has not begun, needs no news.
    if (server.transport !== undefined) SENDERS[list](server).catch(() => undefined);
  };
  const throttles = {
    tools: new Throttle(() => send("tools"), LIST_CHANGED_INTERVAL_MS),
    resources: new Throttle(() => send("resources"), LIST_CHANGED_INTERVAL_MS),
    prompts: new Throttle(() => send("prompts"), LIST_CHANGED_INTERVAL_MS),
  };
  const unfollow = onListChanged((list) => throttles[list].request());
  return () => {
    unfollow();
    for (const throttle of Object.values(throttles)) throttle.close();
  };
}
