/** What the commands of the Agent's command line do. */
import { commandLineOf } from "../program.ts";
import { CommandFailedError, UsageError } from "../outcome.ts";
import { type CallParams, toArguments, type TypedArguments } from "../answers/arguments.ts";
import { printable, toSafeJson } from "../../terminal/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { Logger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { Agent } from "../../agent/agent.ts";
import { catalogueText, drawFinder } from "../answers/finder.ts";
import { configText, eventText, officeText } from "./text.ts";
import { contentsText, readableResourceText, resourceText } from "../answers/contents.ts";
import { DEFAULT_WINDOW_LINES, desktopText, drawDesktop } from "../answers/desktop.ts";
import { drawTools, groupTools, toolsText, toolText } from "../answers/tools.ts";
import { readDocumentTree, toTreeJson, type TreeDepth } from "../answers/document_tree.ts";
import { drawRead } from "../answers/read_picture.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";

/** What every command gets. */
export interface CommandContext {
  readonly agent: Agent;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Print JSON in place of text. */
  readonly json: boolean;
  /** The terminal to draw pictures on, if standard output is one. */
  readonly screen: Screen | undefined;
  /** The Computer that the user named. */
  readonly computer: string | undefined;
}

/** `office` */
export async function listOffice(context: CommandContext): Promise<void> {
  const { agent, signal } = context;
  const sessions = await agent.listOffice({ signal });
  print(context, { sessions }, {
    text: officeText(sessions),
    draw: ({ palette }) => officeText(sessions, palette),
  });
}

/** `tools` */
export async function listTools(
  context: CommandContext,
  { tool: name }: { readonly tool: string | undefined },
): Promise<void> {
  const computer = await chooseComputer(context);
  const tools = await computer.getTools(context);
  const shown = name === undefined ? tools : tools.filter((tool) => tool.name === name);
  const [only] = shown;
  if (name !== undefined && only === undefined) {
    throw new CommandFailedError(
      `Cannot find tool "${name}": not among the Computer's tools. The command "tools" lists them`,
    );
  }
  print(context, { computer: computer.name, tools: shown }, {
    text: name === undefined || only === undefined ? toolsText(tools) : toolText(only),
    draw: name === undefined ? (screen) => drawTools(groupTools(tools), screen) : undefined,
  });
}

/** `call TOOL` */
export async function callTool(
  context: CommandContext,
  call: {
    readonly tool: string;
    readonly typed: TypedArguments;
    readonly params: CallParams;
    readonly timeoutMs: number;
  },
): Promise<void> {
  const { tool, typed, timeoutMs } = call;
  const { signal } = context;
  const given = await call.params.read(signal);
  const computer = await chooseComputer(context);
  // Only the tool knows what a text means.
  const tools = Object.keys(typed.texts).length === 0 ? [] : await computer.getTools({ signal });
  const schema = tools.find(({ name }) => name === tool)?.params_schema ?? {};
  const params = { ...given, ...toArguments(typed, schema) };
  const result = await computer.callTool(tool, params, { timeoutMs, signal });
  const text = contentsText(result);
  const code = result.meta?.error_code;
  // What the Computer itself says is no output of the tool, and the whole error.
  const isOwnError = result.isError === true && code !== undefined && text !== "";
  print(context, result, { text: isOwnError ? "" : text, isVerbatim: true });
  if (result.isError) throw new CommandFailedError(isOwnError ? text : `Tool "${tool}" failed`, { code });
}

/** `config` */
export async function showConfig(context: CommandContext): Promise<void> {
  const computer = await chooseComputer(context);
  const config = await computer.getConfig(context);
  print(context, config, {
    text: configText(config),
    draw: ({ palette }) => configText(config, palette),
  });
}

/** `desktop`: a picture shows the beginning of each window, or all of the only one that was asked for. */
export async function showDesktop(
  context: CommandContext,
  options: { readonly size?: number; readonly window?: string; readonly lines?: number },
): Promise<void> {
  const { size, window, lines = window === undefined ? DEFAULT_WINDOW_LINES : 0 } = options;
  const computer = await chooseComputer(context);
  const desktops = await computer.getDesktop({ size, window, signal: context.signal });
  print(context, { computer: computer.name, desktops }, {
    text: desktopText(desktops),
    draw: (screen) => drawDesktop(desktops, { ...screen, maxLines: lines === 0 ? Infinity : lines }),
  });
}

/** `finder`: with a depth, also what is below the documents. */
export async function showFinder(
  context: CommandContext,
  options: {
    readonly keywords: readonly string[] | undefined;
    readonly fileType?: string;
    readonly offset?: number;
    readonly limit?: number;
    readonly depth: TreeDepth;
  },
): Promise<void> {
  const { depth, ...wanted } = options;
  const { offset = 0 } = wanted;
  const { signal } = context;
  const computer = await chooseComputer(context);
  const { documents, totalCount } = await computer.getFinder({ ...wanted, signal });
  const tree = await readDocumentTree(documents, { computer, depth, signal });
  print(context, { computer: computer.name, documents: toTreeJson(tree), total_count: totalCount }, {
    text: catalogueText({ documents: tree, totalCount }, { offset }),
    draw: (screen) => drawFinder(tree, { ...screen, offset, totalCount }),
  });
}

/** `read URI` */
export async function readResource(
  context: CommandContext,
  options: { readonly uri: string; readonly mcpServer?: string },
): Promise<void> {
  const { uri, mcpServer } = options;
  const computer = await chooseComputer(context);
  const result = await computer.readResource(uri, { mcpServer, signal: context.signal });
  print(context, result, {
    text: resourceText(result.contents),
    isVerbatim: true,
    draw: (screen) => drawRead(uri, result, screen) ?? printable(readableResourceText(result.contents)),
  });
}

/** `watch`: until Ctrl-C, or until nobody reads what it prints. Fails when the Agent cannot come back. */
export async function watch(context: CommandContext): Promise<void> {
  const { agent, signal, logger, json, computer } = context;
  logger.info("watching; Ctrl-C ends it", { office: agent.office });
  for await (const event of agent.events({ signal })) {
    if (event.type === "failed") throw event.error;
    if (computer !== undefined && !concerns(event, computer)) continue;
    const time = new Date().toISOString();
    const line = json ? toSafeJson({ time, ...event }) : `${time} ${eventText(event)}`;
    if (!writeLine(line)) return;
  }
}

/** Prints a line; `false` when its reader has gone, as `head` does, which `console.log` keeps to itself. */
function writeLine(line: string): boolean {
  let bytes = new TextEncoder().encode(`${line}\n`);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    throw error;
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
      `Cannot find a Computer in office "${agent.office}": none is there. Start one with "${
        commandLineOf("computer")
      }"`,
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

/** The forms of an answer for people. */
interface Shown {
  /** For a file or a pipe; always the same for the same answer. */
  readonly text: string;
  /** Whether the text is what a tool or a resource gave, which a file or a pipe gets as it is; false by default. */
  readonly isVerbatim?: boolean;
  /** For a terminal, where there is more to see than text. */
  readonly draw?: ((screen: Screen) => string | undefined) | undefined;
}

/** Whatever the form, nothing that strangers wrote can command a terminal. */
function print({ json, screen }: CommandContext, value: unknown, { text, draw, isVerbatim }: Shown): void {
  if (json) return console.log(toSafeJson(value, 2));
  const isRaw = screen === undefined && isVerbatim === true;
  const shown = (screen && draw?.(screen)) ?? (isRaw ? text : printable(text));
  if (shown !== "") console.log(shown);
}
