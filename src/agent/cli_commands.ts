/** What the commands of the Agent's command line do. */
import { ExitCode, UsageError } from "../cli/exit_codes.ts";
import { ExitRequest } from "../cli/program.ts";
import type { Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { Agent } from "./agent.ts";
import {
  catalogueText,
  configText,
  contentsText,
  desktopText,
  eventText,
  officeText,
  printable,
  toolsText,
} from "./cli_text.ts";
import type { AgentEvent } from "./events.ts";
import type { RemoteComputer } from "./remote_computer.ts";

/** What every command gets. */
export interface CommandContext {
  readonly agent: Agent;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Print JSON in place of text. */
  readonly json: boolean;
  /** The Computer that the user named. */
  readonly computer: string | undefined;
}

/** `office` */
export async function listOffice(context: CommandContext): Promise<void> {
  const { agent, signal } = context;
  const sessions = await agent.listOffice({ signal });
  print(context, { sessions }, officeText(sessions, agent.name));
}

/** `tools` */
export async function listTools(context: CommandContext): Promise<void> {
  const computer = await chooseComputer(context);
  const tools = await computer.getTools(context);
  print(context, { computer: computer.name, tools }, toolsText(tools));
}

/** `call TOOL` */
export async function callTool(
  context: CommandContext,
  call: { readonly tool: string; readonly params: Record<string, unknown>; readonly timeoutMs: number },
): Promise<void> {
  const { tool, params, timeoutMs } = call;
  const computer = await chooseComputer(context);
  const result = await computer.callTool(tool, params, { timeoutMs, signal: context.signal });
  print(context, result, contentsText(result));
  if (!result.isError) return;
  const code = result.meta?.error_code;
  console.error(`error: the tool "${tool}" failed${code === undefined ? "" : ` (${code})`}`);
  throw new ExitRequest(ExitCode.FAILURE);
}

/** `config` */
export async function showConfig(context: CommandContext): Promise<void> {
  const computer = await chooseComputer(context);
  const config = await computer.getConfig(context);
  print(context, config, configText(config));
}

/** `desktop` */
export async function showDesktop(
  context: CommandContext,
  options: { readonly size?: number; readonly window?: string },
): Promise<void> {
  const computer = await chooseComputer(context);
  const desktops = await computer.getDesktop({ ...options, signal: context.signal });
  print(context, { computer: computer.name, desktops }, desktopText(desktops));
}

/** `finder` */
export async function showFinder(
  context: CommandContext,
  options: {
    readonly keywords: readonly string[] | undefined;
    readonly fileType?: string;
    readonly offset?: number;
    readonly limit?: number;
  },
): Promise<void> {
  const computer = await chooseComputer(context);
  const { documents, totalCount } = await computer.getFinder({ ...options, signal: context.signal });
  const text = catalogueText({ documents, totalCount }, { offset: options.offset ?? 0 });
  print(context, { computer: computer.name, documents, total_count: totalCount }, text);
}

/** `read URI` */
export async function readResource(
  context: CommandContext,
  options: { readonly uri: string; readonly mcpServer?: string },
): Promise<void> {
  const { uri, mcpServer } = options;
  const computer = await chooseComputer(context);
  const result = await computer.readResource(uri, { mcpServer, signal: context.signal });
  print(context, result, contentsText({ content: result.contents }));
}

/** `watch`: until Ctrl-C. Fails when the Agent cannot come back. */
export async function watch(context: CommandContext): Promise<void> {
  const { agent, signal, logger, json, computer } = context;
  logger.info("watching; Ctrl-C ends it", { office: agent.office });
  for await (const event of agent.events({ signal })) {
    if (event.type === "failed") throw event.error;
    if (computer !== undefined && !concerns(event, computer)) continue;
    console.log(json ? JSON.stringify({ time: new Date().toISOString(), ...event }) : eventText(event));
  }
}

/** Events of the link, and those that do not say whose they are, concern everybody. */
function concerns(event: AgentEvent, computer: string): boolean {
  if ("computer" in event) return event.computer === computer;
  return !("role" in event) || (event.role === "computer" && event.name === computer);
}

/** The Computer that was named, or the only one there is. */
async function chooseComputer(context: CommandContext): Promise<RemoteComputer> {
  const { agent, signal, computer: wanted } = context;
  const sessions = await agent.listOffice({ signal });
  const names = sessions.filter(({ role }) => role === "computer").map(({ name }) => name);
  const [only] = names;
  if (only === undefined) {
    throw new SmcpError(
      ErrorCode.NOT_FOUND,
      `Cannot find a Computer in office "${agent.office}": none is there. Start one with computer.ts`,
    );
  }
  const list = names.map((name) => `"${name}"`).join(", ");
  if (wanted === undefined && names.length > 1) {
    throw new UsageError(`Cannot choose a Computer: the office has ${list}. Name one with --computer`);
  }
  const chosen = wanted ?? only;
  if (names.includes(chosen)) return agent.computer(chosen);
  throw new SmcpError(ErrorCode.NOT_FOUND, `Cannot find Computer "${chosen}": the office has ${list}`);
}

function print(context: CommandContext, value: unknown, text: string): void {
  if (context.json) console.log(JSON.stringify(value, null, 2));
  else if (text !== "") console.log(Deno.stdout.isTerminal() ? printable(text) : text);
}
