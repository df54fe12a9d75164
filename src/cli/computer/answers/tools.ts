/** `tools`, `call`, `history` */
import { drawColumns } from "../../../terminal/shapes.ts";
import { contentsText } from "../../answers/contents.ts";
import { drawTools, toolsText, toolText } from "../../answers/tools.ts";
import { type CallParams, toArguments, type TypedArguments } from "../../answers/arguments.ts";
import { type Palette, PLAIN } from "../../../terminal/screen.ts";
import type { ToolCallRecord } from "../../../computer/tools/history.ts";
import type { Answer } from "../../answers/answer.ts";
import type { CommandContext } from "../command_context.ts";

/** What an Agent may call, or one of it. */
export function listTools(
  { session }: CommandContext,
  { tool: name }: { readonly tool?: string | undefined } = {},
): Answer {
  const { computer } = session;
  const { tools } = computer;
  if (name !== undefined) {
    const tool = tools.find((tool) => tool.name === name);
    if (tool === undefined) {
      throw new TypeError(`Cannot find tool "${name}": "tools" shows those that there are`);
    }
    return { value: { tools: [tool] }, text: toolText(tool) };
  }
  const groups = [...computer.servers.keys()].map((server) => {
    const names = new Set(computer.toolsOf(server));
    return { server, tools: tools.filter(({ name }) => names.has(name)) };
  });
  return { value: { tools }, text: toolsText(tools), draw: (screen) => drawTools(groups, screen) };
}

/** Calls a tool. Whoever types the command has thereby confirmed it. */
export async function callTool(
  { session, signal, progress }: CommandContext,
  call: {
    readonly tool: string;
    readonly typed: TypedArguments;
    readonly params: CallParams;
    readonly timeoutMs: number;
  },
): Promise<Answer> {
  const { tool, typed, timeoutMs } = call;
  const { computer } = session;
  const schema = computer.tools.find(({ name }) => name === tool)?.params_schema ?? {};
  const params = { ...await call.params.read(signal), ...toArguments(typed, schema) };
  progress(`calling ${tool}`);
  const result = await computer.callTool(tool, params, { timeoutMs, signal, isConfirmed: true });
  signal.throwIfAborted();
  const text = contentsText(result);
  const { error_code: code, a2c_timeout: isLate } = result.meta ?? {};
  // What the Computer itself says is no output of the tool.
  if (result.isError && (code !== undefined || isLate === true)) {
    return { value: result, text: "", failure: text, code };
  }
  return {
    value: result,
    text,
    isVerbatim: true,
    failure: result.isError ? `The tool "${tool}" failed` : undefined,
  };
}

/** The last tool calls, the latest last. */
export function showHistory({ session }: CommandContext): Answer {
  const { history } = session.computer;
  const rows = history.map(({ startedAt, server, tool, outcome, errorCode, durationMs, agent }) => [
    startedAt.toISOString(),
    server ?? "",
    tool,
    errorCode === undefined ? outcome : `${outcome} ${errorCode}`,
    `${Math.round(durationMs)} ms`,
    agent ?? "(this computer)",
  ]);
  return {
    value: { history: history.map(toHistoryEntry) },
    text: historyText(rows, PLAIN),
    draw: ({ palette }) => historyText(rows, palette),
  };
}

function historyText(rows: readonly (readonly string[])[], { strong, faint }: Palette): string {
  if (rows.length === 0) return "no tool was called yet";
  return drawColumns(rows, { right: [4], paints: [faint, undefined, strong, undefined, faint] });
}

/** As everything in our JSON, in snake_case. */
function toHistoryEntry(record: ToolCallRecord): Record<string, unknown> {
  const { reqId, startedAt, durationMs, errorCode, agent, server, tool, outcome } = record;
  return {
    req_id: reqId,
    agent: agent ?? null,
    server: server ?? null,
    tool,
    started_at: startedAt,
    duration_ms: Math.round(durationMs),
    outcome,
    error_code: errorCode ?? null,
  };
}
