/** `tools`, `call`, `history` */
import { alignColumns } from "../../../cli/terminal/columns.ts";
import { contentsText, toolsText } from "../../../cli/answer_text.ts";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command_context.ts";

/** What an Agent may call. */
export function listTools({ session }: CommandContext): Answer {
  const { tools } = session.computer;
  return { value: { tools }, text: toolsText(tools) };
}

/** Calls a tool. Whoever types the command has thereby confirmed it. */
export async function callTool(
  { session, signal, progress }: CommandContext,
  call: { readonly tool: string; readonly params: Record<string, unknown>; readonly timeoutMs: number },
): Promise<Answer> {
  const { tool, params, timeoutMs } = call;
  progress(`calling ${tool}`);
  const result = await session.computer.callTool(tool, params, { timeoutMs, signal, isConfirmed: true });
  const code = result.meta?.error_code;
  return {
    value: result,
    text: contentsText(result),
    failure: result.isError
      ? `the tool "${tool}" failed${code === undefined ? "" : ` (${code})`}`
      : undefined,
  };
}

/** The last tool calls, the latest last. */
export function showHistory({ session }: CommandContext): Answer {
  const { history } = session.computer;
  const rows = history.map(({ startedAt, server, tool, outcome, errorCode, durationMs, agent }) => [
    startedAt.toISOString().slice(11, 19),
    server ?? "",
    tool,
    errorCode === undefined ? outcome : `${outcome} ${errorCode}`,
    `${Math.round(durationMs)} ms`,
    agent,
  ]);
  return {
    value: { history },
    text: rows.length === 0 ? "no tool was called yet" : alignColumns(rows, { right: [4] }).join("\n"),
  };
}
