/** Suggests values for parameters of templates and arguments of prompts. */
import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { toWellFormed } from "../agent/toolkit/list_entries.ts";
import type { OfficeView } from "../agent/toolkit/office_view.ts";
import type { CompleteOptions, RemoteComputerOptions } from "../agent/remote_options.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { printableLine, toSeenError, toSeenLine, toSeenName } from "../text/safe_text.ts";
import type { ScopedResources } from "./resources/scoped_resources.ts";
import { type LocalPrompt, type OfficePrompts, unknownPrompt } from "./prompts.ts";

/** The most values of an answer, as MCP demands. */
const MAX_VALUES = 100;

export interface CompletionParts {
  /** The client's name, as Computers are told it. */
  readonly clientName: () => string | undefined;
  readonly view: OfficeView;
  readonly resources: ScopedResources;
  readonly prompts: OfficePrompts;
  readonly localPrompts: ReadonlyMap<string, LocalPrompt>;
  readonly computers: () => readonly string[];
  readonly ready: () => Promise<void>;
}

interface Suggestions {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

export function serveCompletion(server: Server, parts: CompletionParts): void {
  server.setRequestHandler("completion/complete", async ({ params }, { mcpReq: { signal } }) => {
    await parts.ready();
    const { ref, argument, context } = params;
    const client = parts.clientName();
    const asked = { argument, context: { arguments: context?.arguments ?? {} }, signal, client };
    const { values, total, hasMore } = ref.type === "ref/prompt"
      ? await completePrompt(ref.name, asked, parts)
      : await completeTemplate(ref.uri, asked, parts);
    return {
      completion: {
        // A value is chosen by its looks, and goes back as it is.
        values: toWellFormed(values).filter((value) => printableLine(value) === value).slice(0, MAX_VALUES),
        ...(total === undefined ? {} : { total }),
        hasMore: hasMore === true || values.length > MAX_VALUES,
      },
    };
  });
}

type Asked = Pick<CompleteOptions, "argument" | "context" | "signal"> & Pick<RemoteComputerOptions, "client">;

async function completePrompt(name: string, asked: Asked, parts: CompletionParts): Promise<Suggestions> {
  const { prompts, localPrompts, computers } = parts;
  const local = localPrompts.get(name);
  if (local !== undefined) return { values: await local.complete(asked.argument.name, asked.argument.value) };
  const address = await prompts.find(name, computers());
  if (address === undefined) throw unknownPrompt(name);
  const { computer, mcpServer, prompt } = address;
  return await ask(computer, { ...asked, mcpServer, prompt }, parts);
}

async function completeTemplate(uri: string, asked: Asked, parts: CompletionParts): Promise<Suggestions> {
  const origin = await parts.resources.findTemplate(uri);
  if (origin === undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `No template ${toSeenLine(uri)}: list the templates`,
    );
  }
  const { computer, mcpServer, uri: template } = origin;
  return await ask(computer, { ...asked, mcpServer, uri: template }, parts);
}

async function ask(
  computer: string,
  { client, ...options }: CompleteOptions & Pick<RemoteComputerOptions, "client">,
  { view }: CompletionParts,
): Promise<Suggestions> {
  const remote = view.office?.computer(computer, { client });
  if (remote === undefined) return { values: [] };
  try {
    return await remote.complete(options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SmcpError && error.code === ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED) {
      return { values: [] };
    }
    const what = `Cannot complete ${toSeenName(options.argument.name)} on Computer ${toSeenName(computer)}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${what}: ${toSeenError(error)}`);
  }
}
