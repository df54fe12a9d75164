/** `status`, `skills`, `history` */
import type { HistoryValue, StatusValue } from "../../../api_values.ts";
import { countOf, shorten } from "../../../text/text.ts";
import { alignColumns, drawColumns } from "../../../terminal/shapes.ts";
import { printableLine, toSafeLine, toSeenWord } from "../../../text/safe_text.ts";
import type { Palette } from "../../../terminal/screen.ts";
import { type ServerState, tellingLines } from "../../../mcp/supervision/server_state.ts";
import type {
  AgentReadRecord,
  HistoryRecord,
  ToolCallRecord,
} from "../../../computer/shared/computer_events.ts";
import { quoteWord } from "../../../terminal/words.ts";
import { colored, type CommandAnswer, snakeCased } from "../../answers/answer.ts";
import { skillsText } from "../../answers/mcp_text.ts";
import type { HostedComputer } from "../hosted_computer.ts";
import { PAUSED } from "./calls.ts";
import { memoryOfGroups } from "./process_memory.ts";
import { remedyOf } from "./remedies.ts";

/** How many lines of a server's stderr are shown with its failure; npm needs as many. */
const STDERR_LINES = 8;
/** How many documents of a read are named in its line. */
const SHOWN_DOCUMENTS = 3;
/** How many characters of the arguments of a call are in its line. */
const SHOWN_ARGUMENTS_LENGTH = 200;

export async function showStatus(hosted: HostedComputer): Promise<CommandAnswer> {
  const { computer, store, arrival } = hosted;
  const { connection } = computer;
  const states = [...computer.servers];
  const memory = await memoryOfGroups(new Set(states.flatMap(([, { pid }]) => pid ?? [])));
  const servers = states.map(([name, state]) => ({
    name,
    ...state,
    since: state.since.toISOString(),
    tools: computer.toolsOf(name).length,
    memoryBytes: state.pid === undefined ? undefined : memory.get(state.pid),
    remedy: remedyOf(name, state),
    comesFrom: store.isAdded(name) ? "--documents" : undefined,
  }));
  const value: StatusValue & { readonly command_name: string | undefined } = {
    name: computer.name,
    command_name: hosted.commandName === computer.name ? undefined : hosted.commandName,
    server: connection?.url ?? arrival?.url ?? null,
    connected: connection?.isConnected ?? false,
    office: arrival === undefined ? connection?.office ?? null : null,
    agent: connection?.agent ?? null,
    since: connection?.since?.toISOString() ?? null,
    paused: computer.calls.isPaused,
    config: store.file ?? null,
    refused_edit: hosted.refusedEdit ?? null,
    can_undo: store.canUndo,
    servers: servers.map(snakeCased),
  };
  return { value, ...colored((palette) => statusText(hosted, servers, palette)) };
}

/** Lists the skills, and says why others cannot be used. */
export async function showSkills({ computer }: Pick<HostedComputer, "computer">): Promise<CommandAnswer> {
  const { skills, problems } = await computer.skills.list();
  const told = problems.map(({ path, message }) => printableLine(`${path}: ${message}`));
  return {
    value: { computer: computer.name, skills, problems },
    ...colored((palette) => skillsText(skills, palette)),
    warning: told.length === 0 ? undefined : `some skills cannot be used\n${told.join("\n")}`,
  };
}

interface ServerRow extends Omit<ServerState, "since"> {
  readonly name: string;
  readonly tools: number;
  readonly remedy?: string | undefined;
}

function statusText(hosted: HostedComputer, servers: readonly ServerRow[], palette: Palette): string {
  const { computer, store } = hosted;
  const head = alignColumns([
    ["computer", computer.name],
    ["office", connectionText(hosted)],
    ...computer.calls.isPaused ? [["", PAUSED]] : [],
    ["config", store.file ?? "none; servers that are added are lost when this Computer ends"],
    ...hosted.refusedEdit === undefined
      ? []
      : [["", `the last edit is invalid and not used: ${toSafeLine(hosted.refusedEdit)}`]],
  ]);
  if (servers.length === 0) return [...head, "", "no MCP servers"].join("\n");
  const rows = servers.map(({ name, status, tools, mcpVersion }) => [
    toSeenWord(name),
    status,
    countOf(tools, "tool"),
    ...mcpVersion === undefined ? [] : [`MCP ${mcpVersion}`],
  ]);
  const paint = (cell: string, column: number) => column === 1 ? paintStatus(cell, palette) : cell;
  return [...head, "", ...withReasons(alignColumns(rows, { paint }), servers)].join("\n");
}

function connectionText({ computer, arrival }: HostedComputer): string {
  const { connection } = computer;
  if (connection === undefined) {
    return arrival === undefined ? "none, not connected" : `none yet, connecting to ${arrival.url}`;
  }
  const link = connection.isConnected
    ? `connected to ${connection.url}`
    : `connection to ${connection.url} lost, reconnecting`;
  if (arrival?.office !== undefined) {
    if (arrival.isWaitingForServers) {
      const latest = `after ${arrival.serversTimeoutMs / 1000} s at the latest`;
      return `none yet, ${link}; joins "${toSafeLine(arrival.office)}" when the MCP servers run, ${latest}`;
    }
    return `none yet, ${link}, trying to join "${toSafeLine(arrival.office)}"; see the log for the reason`;
  }
  return connection.office === undefined ? `none, ${link}` : `"${connection.office}", ${link}`;
}

function paintStatus(cell: string, palette: Palette): string {
  const status = cell.trim();
  if (status === "running") return palette.accent(cell);
  return ["failed", "retrying", "needs sign-in"].includes(status) ? palette.alarm(cell) : palette.faint(cell);
}

/** Adds to a server with a problem its reason and the last lines of its stderr. */
function withReasons(lines: readonly string[], servers: readonly ServerRow[]): string[] {
  return lines.flatMap((line, index) => {
    const { name = "", status, lastError, problem, stderrTail = "", remedy } = servers[index] ?? {};
    if (status === "running" && problem !== undefined) return [line, `    ${toSafeLine(problem)}`];
    if (status === "running" || status === "stopped") return [line];
    const written = tellingLines(stderrTail, STDERR_LINES);
    const reason = lastError === undefined ? [] : [lastError];
    // Some errors say themselves what to do.
    const advice = remedy === undefined || status === "needs sign-in" || lastError?.includes("; ")
      ? []
      : [remedy];
    const more = written.length >= STDERR_LINES ? [`"server logs ${quoteWord(name)}" shows more`] : [];
    return [
      line,
      ...[...reason, ...written, ...more, ...advice].map((text) => `    ${toSafeLine(text)}`),
    ];
  });
}

/** The last tool calls and reads, oldest first. */
export function showHistory(
  hosted: HostedComputer,
  { sinceId }: { readonly sinceId: number },
): CommandAnswer {
  const history = hosted.computer.history.filter(({ id }) => id > sinceId);
  const rows = history.map((record) => {
    const { server, agent, client } = record;
    const by = `${agent ?? "(this computer)"}${client === undefined ? "" : ` for ${toSeenWord(client)}`}`;
    const { at, what, outcome, span } = record.kind === "call" ? callCells(record) : readCells(record);
    const params = record.kind === "call" ? [shorten(record.arguments, SHOWN_ARGUMENTS_LENGTH)] : [];
    return [at.toISOString(), server ?? "", what, outcome, span, by, ...params];
  });
  return {
    value: { history: history.map(toHistoryEntry) },
    ...colored((palette) => rows.length === 0 ? emptyText(sinceId) : historyText(rows, palette)),
  };
}

function emptyText(sinceId: number): string {
  const since = sinceId > 0
    ? `entry ${sinceId}`
    : `this program started, ${new Date(performance.timeOrigin).toISOString()}`;
  return `no tool calls and no reads since ${since}`;
}

function historyText(rows: readonly (readonly string[])[], { strong, faint }: Palette): string {
  return drawColumns(rows, { right: [4], paints: [faint, undefined, strong, undefined, faint] });
}

function callCells(record: ToolCallRecord) {
  const { startedAt, lastAt: at, tool: what, outcome: plain, errorCode, calls } = record;
  if (plain === "refused") {
    return { at, what, outcome: `${plain} ${countOf(calls, "time")}`, span: spanText(startedAt, at) };
  }
  const outcome = errorCode === undefined ? plain : `${plain} ${errorCode}`;
  return { at, what, outcome, span: `${Math.round(record.durationMs)} ms` };
}

function readCells(record: AgentReadRecord) {
  const { lastAt: at, firstAt, read, query, documents, moreDocuments, outcome, reads } = record;
  const shown = documents.slice(0, SHOWN_DOCUMENTS);
  const rest = documents.length - shown.length + moreDocuments;
  const told = [...shown.map(printableLine), ...(rest === 0 ? [] : [`${rest} more`])];
  const what = [
    printableLine(read),
    ...(query === undefined ? [] : [toSeenWord(query)]),
    ...(told.length === 0 ? [] : [`→ ${told.join(", ")}`]),
  ];
  const how = outcome === "ok" ? "read" : outcome;
  const span = spanText(firstAt, at);
  return { at, what: what.join(" "), outcome: `${how} ${countOf(reads, "time")}`, span };
}

/** Since when what is one entry has happened, if that was not once. */
function spanText(first: Date, last: Date): string {
  return first.getTime() === last.getTime() ? "" : `since ${first.toISOString()}`;
}

/** The record with the names of our JSON, in snake_case. */
export function toHistoryEntry(record: HistoryRecord): HistoryValue {
  const { id, callId, reqId, agent, client, server } = record;
  const common = {
    id,
    call: callId,
    req_id: reqId,
    agent: agent ?? null,
    client: client ?? null,
    server: server ?? null,
  };
  if (record.kind === "read") {
    const { kind, read, query, documents, moreDocuments, reads, firstAt, lastAt, outcome } = record;
    return {
      ...common,
      kind,
      read,
      query,
      documents,
      more_documents: moreDocuments,
      reads,
      first_at: firstAt.toISOString(),
      last_at: lastAt.toISOString(),
      outcome,
    };
  }
  const { kind, tool, startedAt, calls, lastAt, durationMs, outcome, errorCode, isCut } = record;
  return {
    ...common,
    kind,
    tool,
    started_at: startedAt.toISOString(),
    calls,
    last_at: lastAt.toISOString(),
    duration_ms: Math.round(durationMs),
    outcome,
    error_code: errorCode ?? null,
    arguments: record.arguments,
    is_cut: isCut,
  };
}
