/** `server add|show|remove|start|stop|restart|logs` */
import { isRecord } from "../../../json/json.ts";
import { countOf } from "../../../text/text.ts";
import { toSafeJson, withoutSequences } from "../../../text/safe_text.ts";
import { parseParams } from "../../answers/arguments.ts";
import {
  addServerText,
  type NewServer,
  removeServerText,
  serverEntry,
  type WrittenServer,
} from "../../../config/edit.ts";
import type { ConfigChange } from "../../../computer/host.ts";
import type { CommandAnswer } from "../../answers/answer.ts";
import { serverStatusText } from "../../program.ts";
import type { CommandContext } from "../hosted_computer.ts";

export interface AddServerFlags {
  readonly env: Readonly<Record<string, string>>;
  readonly header: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly sse: boolean;
  readonly autoApply: boolean;
  readonly replace: boolean;
}

/** Adds a server from a command with its arguments, a URL, or a config entry as JSON, and starts it if a Computer runs. */
export async function addServer(
  { hosted, signal, progress }: CommandContext,
  wanted: { readonly name: string; readonly words: readonly string[]; readonly flags: AddServerFlags },
): Promise<CommandAnswer> {
  const { name, words, flags } = wanted;
  const server = toServer(words, flags);
  progress(`adding ${name}`);
  using _awaited = hosted.awaitServer(name);
  const change = await hosted.edit((text) =>
    addServerText(text, name, server, { isReplaced: flags.replace })
  );
  const answer = changeAnswer(`added server "${name}"`, { hosted, change });
  if (change === undefined) return answer;
  progress(`starting ${name}`);
  // Ctrl-C ends the wait; the server stays added.
  await hosted.computer.ready({ servers: [name], signal }).catch(() => {});
  const state = stateText(hosted, name);
  const text = `${answer.text}\n${state}`;
  return {
    ...answer,
    text,
    failure: hosted.computer.servers.get(name)?.status === "failed" ? text : undefined,
  };
}

/** Shows the entry of a server as it is written, with its secrets: the owner edits it. */
export async function showServer(
  { hosted: { store } }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
  const { value } = serverEntry(await store.text() ?? "", name, `show server "${name}"`);
  const { name: _name, ...entry } = isRecord(value) ? value : {};
  return { value: { name, entry }, text: toSafeJson(entry, 2) };
}

export async function removeServer(
  { hosted, progress }: CommandContext,
  { name }: { readonly name: string },
): Promise<CommandAnswer> {
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

function toServer(words: readonly string[], flags: AddServerFlags): NewServer | WrittenServer {
  const [first = "", ...args] = words;
  const { env, header: headers, cwd, sse, autoApply } = flags;
  if (/^\s*\{/.test(first)) return { entry: parseParams(first) };
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
  const { status = "stopped", lastError } = computer.servers.get(name) ?? {};
  if (status === "running") {
    return `server "${name}" is running, with ${countOf(computer.toolsOf(name).length, "tool")}`;
  }
  const text = serverStatusText(name, status);
  return lastError === undefined || status === "needs sign-in" ? text : `${text}: ${lastError}`;
}

export function changeAnswer(
  text: string,
  { hosted, change }: { hosted: CommandContext["hosted"]; change: ConfigChange | undefined },
): CommandAnswer {
  const { file } = hosted.store;
  const where = file === undefined ? "until this Computer ends, since it has no config file" : `in ${file}`;
  return { value: { config: file ?? null, change: change ?? null }, text: `${text}, ${where}` };
}
