/** What `servers`, `prompts`, `prompt`, `resources`, `templates` and `complete` do. */
import type { CompletionTarget } from "../../protocol/pages.ts";
import { UnsupportedRequestError } from "../../protocol/errors.ts";
import type { ResourceInfo } from "../../protocol/resources.ts";
import { colored, type CommandAnswer, withoutRequestId } from "./answer.ts";
import {
  promptsText,
  promptText,
  resourcesText,
  serversText,
  serverText,
  templatesText,
} from "./mcp_text.ts";
import { partWarning, type RequestContext } from "./requests.ts";

/** The most pages that are read of one list: an MCP server may never end it. */
const MAX_PAGES = 1_000;

interface Wanted {
  readonly server?: string | undefined;
}

export async function listServers(
  { computer, signal, progress }: RequestContext,
  { server }: Wanted,
): Promise<CommandAnswer> {
  progress("listing MCP servers");
  const servers = await computer.getMcpServers({ mcpServer: server, signal });
  const value = { computer: computer.name, mcp_servers: servers };
  const [only] = servers;
  if (server !== undefined && only !== undefined) return { value, text: serverText(only) };
  return { value, ...colored((palette) => serversText(servers, palette)) };
}

export async function listPrompts(context: RequestContext, { server }: Wanted): Promise<CommandAnswer> {
  const { computer, progress } = context;
  progress("listing prompts");
  const prompts = await readPages(context, "prompts", (options) => computer.getPrompts(server, options));
  return {
    value: { computer: computer.name, prompts },
    ...colored((palette) => promptsText(prompts, palette)),
    warning: missingWarning(context, server),
  };
}

export async function fillInPrompt(
  { computer, signal, progress }: RequestContext,
  wanted: {
    readonly name: string;
    readonly args: Readonly<Record<string, string>>;
    readonly mcpServer?: string | undefined;
  },
): Promise<CommandAnswer> {
  const { name, args, mcpServer } = wanted;
  progress(`filling in ${name}`);
  const prompt = await computer.getPrompt(name, args, { mcpServer, signal });
  return { value: withoutRequestId(prompt), text: promptText(prompt), isVerbatim: true };
}

/** `resources [SERVER]`: without a server, those of each MCP server that has resources. */
export async function listResources(context: RequestContext, { server }: Wanted): Promise<CommandAnswer> {
  const { computer, progress, signal } = context;
  progress("listing resources");
  const servers = server === undefined
    ? (await computer.getMcpServers({ signal }).catch((error) => refuseAll(error, computer.name)))
      .filter(({ capabilities }) => capabilities?.["resources"] !== undefined)
      .map(({ mcp_server }) => mcp_server)
    : [server];
  const resources: (ResourceInfo & { readonly mcp_server: string })[] = [];
  for (const mcp_server of servers) {
    const listed = await readPages(
      context,
      "resources",
      (options) => computer.getResources(mcp_server, options),
    );
    resources.push(...listed.map((resource) => ({ mcp_server, ...resource })));
  }
  return {
    value: { computer: computer.name, resources },
    ...colored((palette) => resourcesText(resources, palette)),
    warning: missingWarning(context, server),
  };
}

/** A Computer of another implementation lists the resources of one server, but not its servers. */
function refuseAll(error: unknown, computer: string): never {
  if (!(error instanceof UnsupportedRequestError)) throw error;
  const { event } = error;
  const why =
    `Computer "${computer}" does not list its MCP servers, which is an extension of this package. ` +
    "Name one: resources SERVER. From protocol 0.3 on, the name of a tool begins with that of its server and __";
  throw new UnsupportedRequestError(event, { why, cause: error });
}

export async function listTemplates(context: RequestContext, { server }: Wanted): Promise<CommandAnswer> {
  const { computer, progress } = context;
  progress("listing resource templates");
  const templates = await readPages(
    context,
    "resourceTemplates",
    (options) => computer.getResourceTemplates(server, options),
  );
  return {
    value: { computer: computer.name, resource_templates: templates },
    ...colored((palette) => templatesText(templates, palette)),
    warning: missingWarning(context, server),
  };
}

export async function complete(
  { computer, signal, progress }: RequestContext,
  wanted: {
    readonly target: string;
    readonly argument: { readonly name: string; readonly value: string };
    readonly chosen: Readonly<Record<string, string>>;
    readonly mcpServer?: string | undefined;
  },
): Promise<CommandAnswer> {
  const { target, argument, chosen, mcpServer } = wanted;
  progress(`asking for values of ${argument.name}`);
  const what: CompletionTarget = target.includes("://") ? { uri: target } : { prompt: target };
  const completion = await computer.complete({
    ...what,
    argument,
    context: { arguments: chosen },
    mcpServer,
    signal,
  });
  const { values, total, hasMore } = completion;
  const value = { values, ...(total === undefined ? {} : { total }), has_more: hasMore };
  const shown = values.length === 0 ? "no values" : values.join("\n");
  return {
    value,
    text: shown,
    warning: hasMore ? "there are more values: type more of the beginning" : undefined,
  };
}

function missingWarning({ computer }: RequestContext, server: string | undefined): string | undefined {
  return server === undefined ? partWarning(computer.servers) : undefined;
}

async function readPages<Key extends string, T>(
  { signal }: RequestContext,
  key: Key,
  readPage: (
    options: { readonly signal: AbortSignal; readonly cursor?: string | undefined },
  ) => Promise<Readonly<Record<Key, readonly T[]>> & { readonly nextCursor?: string }>,
): Promise<T[]> {
  const entries: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const read = await readPage({ signal, cursor });
    entries.push(...read[key]);
    if (read.nextCursor === undefined || read.nextCursor === cursor) break;
    cursor = read.nextCursor;
  }
  return entries;
}
