/** `server add|show|remove|start|stop|restart|logs` */
import { isRecord } from "../../../json/json.ts";
import { countOf, describeError } from "../../../text/text.ts";
import { printableLine, toSafeJson, withoutSequences } from "../../../text/safe_text.ts";
import {
  addServerText,
  copiedServers,
  type NewServer,
  removeServerText,
  serverEntry,
  type WrittenServer,
} from "../../../config/edit.ts";
import type { ConfigChange } from "../../../computer/host.ts";
import type { CommandAnswer } from "../../answers/answer.ts";
import { UsageError } from "../../outcome.ts";
import { serverStatusText } from "../../program.ts";
import { reasonOf } from "../../../mcp/supervision/server_state.ts";
import type { CommandContext } from "../hosted_computer.ts";

export interface AddServerFlags {
  readonly env: Readonly<Record<string, string>>;
  readonly header: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly sse: boolean;
  readonly autoApply: boolean;
  readonly replace: boolean;
}

/**
 * Adds a server from a command with its arguments, a URL or an entry as JSON, or the servers of a configuration of any
 * client, and starts them if a Computer runs.
 */
export async function addServer(
  { hosted, signal, progress }: CommandContext,
  wanted: { readonly name: string; readonly words: readonly string[]; readonly flags: AddServerFlags },
): Promise<CommandAnswer> {
  const { flags: { replace: isReplaced } } = wanted;
  const servers = toServers(wanted);
  const names = servers.map(([name]) => name);
  progress(`adding ${names.join(", ")}`);
  using awaited = new DisposableStack();
  for (const name of names) awaited.use(hosted.awaitServer(name));
  const change = await hosted.edit((text) =>
    servers.reduce((before, [name, server]) => addServerText(before, name, server, { isReplaced }), text)
  );
  const added = `${names.length === 1 ? "server" : "servers"} ${names.map((name) => `"${name}"`).join(", ")}`;
  const answer = changeAnswer(`added ${added}`, { hosted, change });
  if (change === undefined) return answer;
  progress(`starting ${names.join(", ")}`);
  // Ctrl-C ends the wait; the servers stay added.
  await hosted.computer.ready({ servers: names, signal }).catch(() => {});
  const text = [answer.text, ...names.map((name) => stateText(hosted, name))].join("\n");
  const hasFailed = names.some((name) => hosted.computer.servers.get(name)?.status === "failed");
  return { ...answer, text, failure: hasFailed ? text : undefined };
}

/** Shows the entry of a server as it is written, with its secrets: the owner edits it. */
export async function showServer(
  { hosted: { store } }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
  store.assertWritten(name, "show");
  const { value } = serverEntry(await store.text() ?? "", name, `show server "${name}"`);
  const { name: _name, ...entry } = isRecord(value) ? value : {};
  return { value: { name, entry }, text: toSafeJson(entry, 2) };
}

export async function removeServer(
  { hosted, progress }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
  hosted.store.assertWritten(name, "remove");
  progress(`removing ${name}`);
  const change = await hosted.edit((text) => removeServerText(text, name));
  return changeAnswer(`removed server "${name}"`, { hosted, change });
}

/** Starts or restarts a server and waits until it runs or fails. */
export async function startServer(
  { hosted, signal, progress }: CommandContext,
  { name, verb }: { readonly name: string; readonly verb: "start" | "restart" },
): Promise<CommandAnswer> {
  const { computer, options } = hosted;
  options.inputs.askAgain();
  computer[`${verb}Server`](name);
  progress(`starting ${name}`);
  using _awaited = hosted.awaitServer(name);
  await computer.ready({ servers: [name], signal });
  const { status = "stopped", lastError } = computer.servers.get(name) ?? {};
  const text = stateText(hosted, name);
  return {
    value: { name, status, last_error: lastError },
    text,
    failure: status === "running" ? undefined : text,
  };
}

export async function stopServer(
  { hosted, progress }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
  progress(`stopping ${name}`);
  await hosted.computer.stopServer(name);
  return { value: { name, status: "stopped" }, text: `server "${name}" is stopped` };
}

/** Shows the last lines that a server wrote, and when it started and stopped. */
export function showServerLog(
  { hosted }: CommandContext,
  { name, lines }: { readonly name: string; readonly lines: number },
): CommandAnswer {
  const all = hosted.computer.serverLog(name);
  const log = lines === 0 ? [] : all.slice(-lines);
  const text = log.length === 0 ? `the log of server "${name}" is empty` : log.map(toLogLine).join("\n");
  return { value: { name, log }, text };
}

/** One line: text of a server must not look like another line of the log. */
function toLogLine(line: string): string {
  return withoutSequences(line).replaceAll("\n", " ");
}

function toServers(
  { name, words, flags }: Parameters<typeof addServer>[1],
): (readonly [name: string, server: NewServer | WrittenServer])[] {
  const [first = ""] = words;
  if (!/^\s*\{/.test(first)) return [[name, toServer(words, flags)]];
  try {
    return copiedServers(JSON.parse(first), name);
  } catch (cause) {
    throw new UsageError(`Cannot add server "${name}": no valid JSON: ${describeError(cause)}`, { cause });
  }
}

function toServer(words: readonly string[], flags: AddServerFlags): NewServer {
  const [first = "", ...args] = words;
  const { env, header: headers, cwd, sse, autoApply } = flags;
  const default_tool_meta = autoApply ? { auto_apply: true } : undefined;
  if (/^https?:\/\//.test(first)) {
    return { type: sse ? "sse" : "streamable", url: first, headers: orNone(headers), default_tool_meta };
  }
  return {
    type: "stdio",
    command: first,
    args: args.length === 0 ? undefined : args,
    env: orNone(env),
    cwd,
    default_tool_meta,
  };
}

function orNone(pairs: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  return Object.keys(pairs).length === 0 ? undefined : pairs;
}

/** `server "files" is running, with 14 tools`, or why it does not run. */
export function stateText({ computer }: CommandContext["hosted"], name: string): string {
  const { status = "stopped", ...state } = computer.servers.get(name) ?? {};
  if (status === "running") {
    return `server "${name}" is running, with ${countOf(computer.toolsOf(name).length, "tool")}`;
  }
  const text = serverStatusText(name, status);
  const reason = reasonOf(state);
  return reason === undefined || status === "needs sign-in" ? text : `${text}: ${printableLine(reason)}`;
}

export function changeAnswer(
  text: string,
  { hosted, change }: { hosted: CommandContext["hosted"]; change: ConfigChange | undefined },
): CommandAnswer {
  const { file } = hosted.store;
  const where = file === undefined ? "until this Computer ends, since it has no config file" : `in ${file}`;
  return { value: { config: file ?? null, change: change ?? null }, text: `${text}, ${where}` };
}
