/** One client of the gateway: a server of MCP in front of the office. */
import { Server } from "@modelcontextprotocol/server";
import { PACKAGE_VERSION } from "../version.ts";
import { nameOfClient, serveTools, type ToolHandlerParts } from "./tool_handlers.ts";
import { type CompletionParts, serveCompletion } from "./completion.ts";
import { type PromptHandlerParts, servePrompts } from "./prompts.ts";
import { type ResourceHandlerParts, serveResources, tellUpdates } from "./resources/handlers.ts";
import { type ListName, throttleLists } from "./gateway_options.ts";
import { SKILLS_EXTENSION } from "../protocol/mcp.ts";
import { serveSkills, type SkillHandlerParts } from "./skills/office_skills.ts";

const MAX_QUESTIONS = 64;

export interface SessionParts
  extends ToolHandlerParts, ResourceHandlerParts, PromptHandlerParts, SkillHandlerParts, CompletionParts {
  readonly instructions: string;
  /** Calls the listener when a list has changed, until the returned function is called. */
  readonly onListChanged: (listener: (list: ListName) => void) => () => void;
}

/** Makes the server for one client. What it holds is freed when it is closed. */
export function createSession(given: Omit<SessionParts, "clientName">): Server {
  const server = new Server({ name: "a2c-smcp", title: "A2C-SMCP office", version: PACKAGE_VERSION }, {
    instructions: given.instructions,
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
      extensions: { [SKILLS_EXTENSION]: {} },
    },
    inputRequired: { maxRounds: MAX_QUESTIONS },
  });
  const parts = { ...given, clientName: () => given.access().client || nameOfClient(server) };
  serveTools(server, parts);
  servePrompts(server, parts);
  serveCompletion(server, parts);
  serveResources(server, parts);
  serveSkills(server, parts);
  if (parts.isPerRequest) return server;
  const endings = [tellUpdates(server, parts), followLists(server, parts.onListChanged)];
  server.onclose = () => {
    for (const end of endings) end();
  };
  return server;
}

/** Tells a client of changed lists; one that is gone, or has not begun, needs no news. */
function followLists(server: Server, onListChanged: SessionParts["onListChanged"]): () => void {
  const senders: Readonly<Record<ListName, () => Promise<void>>> = {
    tools: () => server.sendToolListChanged(),
    resources: () => server.sendResourceListChanged(),
    prompts: () => server.sendPromptListChanged(),
  };
  return throttleLists(onListChanged, (list) => {
    if (server.transport !== undefined) senders[list]().catch(() => undefined);
  });
}
