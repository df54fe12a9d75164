/** What `tools`, `call`, `desktop`, `finder` and `read` do, for the Agent's and for the Computer's command line. */
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../../link/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { CallProgress } from "../../protocol/progress.ts";
import type { CallTimeouts } from "../../protocol/call.ts";
import type { CallToolResult } from "../../protocol/tools.ts";
import { shorten } from "../../text/text.ts";
import { didYouMean } from "../../text/spelling.ts";
import { printable, printableLine } from "../../text/safe_text.ts";
import { CommandFailedError } from "../outcome.ts";
import { reasonOf, type ServerState } from "../../mcp/supervision/server_state.ts";
import { commandLineOf, serverStatusText } from "../program.ts";
import { type AnswerOptions, CallAnswers, type CallPerson } from "../questions/call_answers.ts";
import { type AnswerShown, type ShownWait, waitNote } from "../questions/shown_question.ts";
import { type CommandAnswer, drawn, withoutRequestId } from "./answer.ts";
import { type CallParams, toArguments, type TypedArguments } from "./arguments.ts";
import { contentsText, progressText, readableResourceText, resourceText } from "./contents.ts";
import { DEFAULT_WINDOW_LINES, desktopText, drawDesktop } from "./desktop.ts";
import { readDocumentTree, toTreeJson, type TreeDepth } from "./document_tree.ts";
import { drawFinder } from "./finder.ts";
import { drawRead } from "./read_picture.ts";
import { drawTools, toolText } from "./tools.ts";

/** The MCP servers of a Computer by name; only a Computer in this process says why one does not run. */
type KnownState = Pick<ServerState, "lastError" | "stderrTail"> & { readonly status: string };
type ServerStates = ReadonlyMap<string, KnownState>;

/** What a Computer in this process and one in an office have in common. */
export interface AskedComputer extends
  Pick<
    RemoteComputer,
    | "name"
    | "getTools"
    | "getDesktop"
    | "getFinder"
    | "readResource"
    | "getMcpServers"
    | "getPrompts"
    | "getPrompt"
    | "getResources"
    | "getResourceTemplates"
    | "complete"
  > {
  /** Its MCP servers; absent for a Computer of an office, which is asked for them when that is worth a request. */
  readonly servers?: ServerStates;
}

/** Calls a tool of the Computer. */
export type CallAsked = (
  tool: string,
  params: Readonly<Record<string, unknown>>,
  options: CallTimeouts & {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: CallProgress) => void;
    /** Answers the questions of the call; without it, it offers no answers. */
    readonly answer: AnswerShown | undefined;
    /** Told when the call waits for the person at a Computer of the office. */
    readonly onWait: (wait: ShownWait) => void;
  },
) => Promise<CallToolResult>;

export interface RequestContext {
  readonly computer: AskedComputer;
  readonly callTool: CallAsked;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  readonly person: CallPerson;
}

export interface RequestCall {
  readonly name: string;
  readonly work: (context: RequestContext) => Promise<CommandAnswer>;
  /** The MCP server or the tool that must be there first; all MCP servers by default. */
  readonly awaits?: { readonly server?: string | undefined; readonly tool?: string | undefined };
  /** Whether an option names the standard input of the process in which it was typed; false by default. */
  readonly readsInput?: boolean | undefined;
  /** The words for a Computer of another process, if they differ from what was typed. */
  readonly toWords?: (signal: AbortSignal) => Promise<readonly string[]>;
}

export type RunRequest = (call: RequestCall) => Promise<void>;

export async function listTools(
  { computer, signal, progress }: RequestContext,
  { tool: name }: { readonly tool?: string | undefined },
): Promise<CommandAnswer> {
  progress("listing tools");
  const tools = await computer.getTools({ signal });
  if (name === undefined) {
    const value = { computer: computer.name, tools };
    if (tools.length === 0) return await emptyAnswer(value, { what: "tools" }, { computer, signal });
    return { ...listed(value, computer.servers), ...drawn((screen) => drawTools(tools, screen)) };
  }
  const tool = tools.find((tool) => tool.name === name);
  if (tool === undefined) {
    const hint = didYouMean(name, tools.map(({ name }) => name)) || `; "tools" lists all tools`;
    throw new CommandFailedError(`Cannot find tool "${name}"${hint}`);
  }
  return { value: { computer: computer.name, tools: [tool] }, text: toolText(tool) };
}

export async function callTool(
  { computer, callTool: send, signal, progress, person }: RequestContext,
  call: {
    readonly tool: string;
    readonly typed: TypedArguments;
    readonly params: CallParams;
    readonly timeoutMs: number;
    /** With it, progress restarts the time-out. */
    readonly maxTimeoutMs?: number | undefined;
    readonly answers: AnswerOptions;
  },
): Promise<CommandAnswer> {
  const { tool, typed, timeoutMs, maxTimeoutMs } = call;
  const given = await call.params.read(signal);
  progress(`calling ${tool}`);
  // Only the schema says whether `3` is a number or a text.
  const tools = Object.keys(typed.texts).length === 0 ? [] : await computer.getTools({ signal });
  const schema = tools.find(({ name }) => name === tool)?.params_schema ?? {};
  const params = { ...given, ...toArguments(typed, schema) };
  const onProgress = (done: CallProgress) => progress(`calling ${tool}  ${progressText(done)}`);
  const times = { timeoutMs, maxTimeoutMs, resetTimeoutOnProgress: maxTimeoutMs !== undefined };
  const onWait = (wait: ShownWait) => {
    const note = waitNote(wait);
    progress(`calling ${tool}  ${note.text}`);
    person.tell(note);
  };
  const answers = new CallAnswers(call.answers, person);
  const { answer } = answers;
  const result = await send(tool, params, { ...times, signal, onProgress, answer, onWait })
    .catch((error: unknown) => {
      throw withEffect(error);
    });
  signal.throwIfAborted();
  return { ...resultAnswer(tool, result), notes: answers.notes };
}

/** Says of a call that has no answer whether its tool may have run. */
function withEffect(error: unknown): unknown {
  const effect = mayHaveRun(error)
    ? "the tool may have run: check what it has done before you call it again"
    : "the tool did not run";
  if (error instanceof ConnectionClosedError) {
    const { message, isUnsent, isPermanent } = error;
    return new ConnectionClosedError(`${message}; ${effect}`, { isUnsent, isPermanent, cause: error });
  }
  if (error instanceof RequestTimeoutError) {
    const { message, isUnsent } = error;
    return new RequestTimeoutError(`${message}; ${effect}`, { isUnsent, cause: error });
  }
  // Others say themselves what has not run.
  if (!(error instanceof SmcpError) || !mayHaveRun(error) || error.message.includes("may have")) return error;
  return new SmcpError(error.code, `${error.message}; ${effect}`, { details: error.details, cause: error });
}

/** An error of the Computer itself is the error message; what a failing tool returned stays on standard output. */
function resultAnswer(tool: string, result: CallToolResult): CommandAnswer {
  const text = contentsText(result);
  const value = withoutRequestId(result);
  if (!result.isError) return { value, text, isVerbatim: true };
  const { error_code, a2c_timeout } = result.meta ?? {};
  const code = error_code ?? (a2c_timeout === true ? ErrorCode.TOOL_TIMEOUT : undefined);
  if (code !== undefined && text !== "") return { value, text: "", failure: text, code };
  return { value, text, isVerbatim: true, failure: `Tool "${tool}" failed`, code };
}

export async function showDesktop(
  { computer, signal, progress }: RequestContext,
  options: { readonly size?: number; readonly window?: string; readonly lines?: number },
): Promise<CommandAnswer> {
  const { size, window, lines = window === undefined ? DEFAULT_WINDOW_LINES : 0 } = options;
  progress("reading windows");
  const desktops = await computer.getDesktop({ size, window, signal });
  const value = { computer: computer.name, desktops };
  if (desktops.length === 0) {
    if (size === 0) return { value, text: "no windows" };
    const what = { what: "windows", filter: window === undefined ? undefined : `match ${window}` } as const;
    return await emptyAnswer(value, what, { computer, signal });
  }
  return {
    ...listed(value, window === undefined ? computer.servers : undefined),
    text: desktopText(desktops),
    draw: (screen) => drawDesktop(desktops, { ...screen, maxLines: lines === 0 ? Infinity : lines }),
  };
}

/** `finder`: with a depth, also what is below the documents. */
export async function showFinder(
  { computer, signal, progress }: RequestContext,
  options: {
    readonly query?: string;
    readonly keywords?: readonly string[] | undefined;
    readonly fileType?: string;
    readonly offset?: number;
    readonly limit?: number;
    readonly depth: TreeDepth;
  },
): Promise<CommandAnswer> {
  const { depth, ...asked } = options;
  const { offset = 0, keywords = [], fileType, query } = asked;
  progress(query === undefined ? "listing documents" : "searching documents");
  const { documents, totalCount, notIndexed = 0, notice } = await computer.getFinder({ ...asked, signal });
  if (depth !== "documents") progress(`reading ${depth}`);
  const tree = await readDocumentTree(documents, { computer, depth, signal });
  const gaps = {
    ...(notIndexed === 0 ? {} : { not_indexed: notIndexed }),
    ...(notice === undefined ? {} : { notice }),
  };
  const value = { computer: computer.name, documents: toTreeJson(tree), total_count: totalCount, ...gaps };
  if (totalCount === 0) {
    const words = query !== undefined
      ? "have the words"
      : keywords.length === 0
      ? ""
      : "match in titles, keywords and summaries";
    const type = fileType === undefined ? "" : `are of the type "${fileType}"`;
    const asked = [words, type].filter((part) => part !== "").join(" and ");
    const why = notice === undefined ? "" : `(${notice})`;
    const filter = [asked, why].filter((part) => part !== "").join(" ") || undefined;
    return await emptyAnswer(value, { what: "documents", filter }, { computer, signal });
  }
  const place = { offset, totalCount, notice, isSearch: query !== undefined };
  return {
    ...listed(value, computer.servers),
    ...drawn((screen) => drawFinder(tree, { ...screen, ...place })),
  };
}

export async function readResource(
  { computer, signal, progress }: RequestContext,
  { uri, mcpServer }: { readonly uri: string; readonly mcpServer?: string },
): Promise<CommandAnswer> {
  progress(`reading ${uri}`);
  const result = await computer.readResource(uri, { mcpServer, signal });
  return {
    value: withoutRequestId(result),
    text: resourceText(result.contents),
    isVerbatim: true,
    draw: (screen) => drawRead(uri, result, screen) ?? printable(readableResourceText(result.contents)),
  };
}

/** The longest reason of a server that does not run, in characters. */
const MAX_REASON = 300;

interface EmptyList {
  readonly what: "tools" | "windows" | "documents";
  /** What the command asked for, such as `match window://log`; everything by default. */
  readonly filter?: string | undefined;
}

/** Why an MCP server that runs may add nothing to a list. */
const NOTHING_TO_LIST = {
  tools: "their tools may be forbidden",
  windows: `they may have no windows, or not announce "resources.subscribe", which windows need`,
  documents: `they may have no documents, or not announce "resources.subscribe", which documents need`,
} as const;

const STATES_TIMEOUT_MS = 5_000;

/**
 * The answer of a command whose list is empty. It is a failure when MCP servers have failed and no other may still add to
 * the list; and for a search, when an MCP server is missing, which may have what was searched for.
 */
async function emptyAnswer(
  value: unknown,
  empty: EmptyList,
  { computer, signal }: Pick<RequestContext, "computer" | "signal">,
): Promise<CommandAnswer> {
  const servers = computer.servers ?? await statesOf(computer, signal);
  const text = emptyText(empty, servers);
  const statuses = [...servers?.values() ?? []].map(({ status }) => status);
  const hasFailed = statuses.includes("failed") || statuses.includes("retrying");
  const mayCome = statuses.includes("running") || statuses.includes("starting");
  const isFailure = empty.filter === undefined ? hasFailed && !mayCome : partWarning(servers) !== undefined;
  return { value, text, failure: isFailure ? text : undefined };
}

/** `undefined` for a Computer that does not list its MCP servers. */
async function statesOf(computer: AskedComputer, signal: AbortSignal): Promise<ServerStates | undefined> {
  try {
    // Some other implementations do not answer unknown events.
    const servers = await computer.getMcpServers({
      signal: AbortSignal.any([signal, AbortSignal.timeout(STATES_TIMEOUT_MS)]),
    });
    return new Map(servers.map(({ mcp_server, status }) => [mcp_server, { status }]));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** @param servers `undefined` if only the Computer itself knows them. */
export function emptyText({ what, filter }: EmptyList, servers: ServerStates | undefined): string {
  const text = printableLine(["no", what, ...filter === undefined ? [] : [filter]].join(" "));
  if (servers === undefined) {
    const others = filter === undefined ? `, or ${NOTHING_TO_LIST[what]}` : "";
    return `${text}; MCP servers of the Computer may be starting, stopped or failed${others}: ` +
      `"${commandLineOf("computer")} status" on that machine shows their states`;
  }
  const idle = [...servers].filter(([, { status }]) => status !== "running");
  if (servers.size === 0) return `${text}: the Computer has no MCP servers`;
  if (idle.length > 0) return `${text}: ${idleText(idle)}`;
  return filter === undefined && what !== "tools"
    ? `${text}; the MCP servers run: ${NOTHING_TO_LIST[what]}`
    : text;
}

/** The value of a list, and what is missing in it. */
function listed(
  value: object,
  servers: ServerStates | undefined,
): Pick<CommandAnswer, "value" | "warning"> {
  const warning = partWarning(servers);
  return { value: warning === undefined ? value : { ...value, warning }, warning };
}

/** Says which MCP servers are missing in a list; a server that the user stopped is not missed. */
export function partWarning(servers: ServerStates | undefined): string | undefined {
  const missing = [...servers ?? []].filter(([, { status }]) => status !== "running" && status !== "stopped");
  return missing.length === 0 ? undefined : `the list may be incomplete: ${idleText(missing)}`;
}

/** `server "x" is starting, server "y" failed (exit code 1)`; without the reason, it says where to find it. */
function idleText(idle: Iterable<readonly [string, KnownState]>): string {
  const states = [...idle].map(([name, state]) => {
    const { status } = state;
    const reason = reasonOf(state);
    return {
      text: `${serverStatusText(name, status)}${
        reason === undefined ? "" : ` (${shorten(reason, MAX_REASON)})`
      }`,
      isUnexplained: reason === undefined && (status === "failed" || status === "retrying"),
    };
  });
  const where = states.some(({ isUnexplained }) => isUnexplained)
    ? `; "${commandLineOf("computer")} status" on that machine shows why`
    : "";
  return printableLine(`${states.map(({ text }) => text).join(", ")}${where}`);
}
