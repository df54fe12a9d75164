/** The commands that only the Agent has, such as `office`, `config`, `skill`, `upload` and `watch`, and the choice of a Computer. */
import { basename } from "@std/path";
import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { OfficeGroup } from "../../agent/group/office_group.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import type { UploadFile } from "../../agent/uploads.ts";
import { describeFileError } from "../../files/files.ts";
import type { Logger } from "../../log.ts";
import type { GetComputerConfigRet, MCPServerConfig } from "../../protocol/config.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { McpServerInfo } from "../../protocol/mcp_servers.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { type ComputerPresence, sleepText } from "../../protocol/presence.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { printableLine, toSafeJson, toSeenWord } from "../../text/safe_text.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { drawColumns } from "../../terminal/shapes.ts";
import { colored, type CommandAnswer, withoutRequestId } from "../answers/answer.ts";
import { progressText } from "../answers/contents.ts";
import { serversText, skillsText } from "../answers/mcp_text.ts";
import { UsageError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";

export interface CommandContext {
  readonly agent: Agent | OfficeGroup;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly json: boolean;
  readonly computer: string | undefined;
  readonly progress: (text: string) => void;
}

export async function listOffice({ agent, signal, progress }: CommandContext): Promise<CommandAnswer> {
  progress("listing the office");
  const [sessions, computers] = await Promise.all([
    agent.listOffice({ signal }),
    agent.listPresence({ signal }),
  ]);
  return {
    value: { sessions, ...(computers === undefined ? {} : { computers }) },
    ...colored((palette) => officeText(sessions, computers, palette)),
  };
}

export async function showConfig(context: CommandContext): Promise<CommandAnswer> {
  const { signal, progress } = context;
  const computer = await chooseComputer(context);
  progress("reading the configuration");
  const config = await computer.getConfig({ signal });
  return {
    value: withoutRequestId(config),
    ...colored((palette) => configText(config, palette)),
  };
}

export async function listSkills(context: CommandContext): Promise<CommandAnswer> {
  const { signal, progress } = context;
  const computer = await chooseComputer(context);
  progress("listing skills");
  const skills = await computer.getSkills({ signal });
  return {
    value: { computer: computer.name, skills },
    ...colored((palette) => skillsText(skills, palette)),
  };
}

/** `skill NAME [PATH]`: a file or a pipe gets the bytes unchanged. */
export async function readSkill(
  context: CommandContext,
  { name, path }: { readonly name: string; readonly path: string | undefined },
): Promise<CommandAnswer | undefined> {
  const { signal, progress, json } = context;
  const computer = await chooseComputer(context);
  progress(`reading ${path ?? SKILL_FILE} of ${name}`);
  const file = await computer.getSkill(name, { relPath: path, signal });
  const { relPath: rel_path, mimeType: mime_type, sha256, bytes, body } = file;
  if (!json && !Deno.stdout.isTerminal()) {
    await writeBytes(bytes);
    return undefined;
  }
  const content = body === undefined ? { blob: bytes.toBase64() } : { body };
  const value = { name: file.name, rel_path, mime_type, total_size: bytes.byteLength, sha256, ...content };
  const size = `${bytes.byteLength} bytes of ${mime_type}; add "> FILE" to write them to a file`;
  return { value, text: body ?? size };
}

async function writeBytes(bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await Deno.stdout.write(rest));
}

/** `upload`: sends a file to a Computer, and prints its path there. */
export async function uploadFile(context: CommandContext, file: string): Promise<CommandAnswer> {
  const { signal, progress } = context;
  const source = file === "-" ? Deno.stdin.readable : await openUpload(file);
  const computer = await chooseComputer(context);
  progress(`uploading to ${computer.name}`);
  const { landingPath: landing_path, totalSize: total_size, sha256 } = await computer.putBlob(source, {
    signal,
  });
  return { value: { landing_path, total_size, sha256 }, text: landing_path };
}

async function openUpload(file: string): Promise<UploadFile> {
  try {
    const { isFile, size } = await Deno.stat(file);
    if (!isFile) {
      throw new UsageError(`Cannot upload "${file}": it is not a regular file; give the path of a file`);
    }
    return { size, name: basename(file), stream: () => Deno.openSync(file).readable };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`Cannot upload "${file}": ${describeFileError(cause)}`, { cause });
  }
}

/** `watch`: prints events until Ctrl-C or until standard output is closed; fails if the Agent cannot reconnect. */
export async function watch(context: CommandContext): Promise<undefined> {
  const { agent, signal, logger, json, computer } = context;
  if (!("events" in agent)) throw new TypeError("Cannot watch several offices at once");
  logger.info("watching the office; press Ctrl-C to stop", { office: agent.office });
  for await (const event of agent.events({ signal })) {
    if (event.type === "failed") throw event.error;
    if (computer !== undefined && !concerns(event, computer)) continue;
    const time = new Date().toISOString();
    const line = json ? toSafeJson({ time, ...toEventJson(event) }) : `${time} ${eventText(event)}`;
    if (!writeLine(line)) return undefined;
  }
  return undefined;
}

function toEventJson(event: AgentEvent): object {
  if (!("reqId" in event)) return event;
  const { reqId: req_id, ...rest } = event;
  if (rest.type !== "updateProgress") return { ...rest, req_id };
  const { hasMessage: has_message, ...progress } = rest;
  return { ...progress, has_message, req_id };
}

/** Prints a line; returns `false` if standard output is closed, which `console.log` ignores. */
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

/** Whether an event is about this Computer. Events of the connection, and events without a member's name, always are. */
function concerns(event: AgentEvent, computer: string): boolean {
  if ("computer" in event) return event.computer === computer;
  return !("role" in event) || (event.role === "computer" && event.name === computer);
}

/** `servers`: whether a call would work now at each Computer, and its MCP servers. */
export async function listComputers(context: CommandContext): Promise<CommandAnswer> {
  const { agent, signal, progress } = context;
  progress("asking the Computers");
  const [names, told = []] = await Promise.all([namesIn(context), agent.listPresence({ signal })]);
  const known = new Map(told.map((each) => [each.computer, each]));
  const all = [...new Set([...names, ...known.keys()])];
  requireComputers(agent, all);
  // Loaded only now, so that other commands start fast.
  const { askEach } = await import("../../agent/toolkit/builtins/builtin.ts");
  const awake = all.filter((name) => known.get(name)?.asleep_since === undefined);
  const answers = await askEach(
    awake.map((name) => agent.computer(name)),
    (computer) => computer.getMcpServers({ signal }),
  );
  const computers = all.map((computer) => {
    const answer = answers.find((each) => each.computer === computer);
    const presence: ComputerPresence = known.get(computer) ?? { computer };
    return {
      ...presence,
      ...(presence.last_read === undefined ? {} : { awake: presence.asleep_since === undefined }),
      ...(answer === undefined
        ? {}
        : "value" in answer
        ? { mcp_servers: answer.value }
        : { problem: answer.problem }),
    };
  });
  return { value: { computers }, ...colored((palette) => computersText(computers, palette)) };
}

interface ListedComputer extends ComputerPresence {
  readonly problem?: string;
  readonly mcp_servers?: readonly McpServerInfo[];
}

export function computersText(computers: readonly ListedComputer[], palette: Palette = PLAIN): string {
  const width = Math.max(...computers.map(({ computer }) => toSeenWord(computer).length));
  return computers.flatMap(({ problem, mcp_servers: servers, ...presence }) => [
    `${palette.strong(toSeenWord(presence.computer).padEnd(width))}  ${presenceText(presence)}${
      servers?.some(({ paused }) => paused) === true ? ", paused by its owner" : ""
    }`,
    ...(problem === undefined ? [] : [`  ${problem}`]),
    ...(servers === undefined ? [] : serversText(servers, palette).split("\n").map((line) => `  ${line}`)),
  ]).join("\n");
}

async function namesIn({ agent, signal }: CommandContext): Promise<string[]> {
  const sessions = await agent.listOffice({ signal });
  return sessions.filter(({ role }) => role === "computer").map(({ name }) => name);
}

function requireComputers({ office }: CommandContext["agent"], names: readonly string[]): void {
  if (names.length > 0) return;
  throw new SmcpError(
    ErrorCode.NOT_FOUND,
    `Cannot find a Computer in office "${office}": none has joined. One that was just started joins within ` +
      `seconds; otherwise start one with "${commandLineOf("computer")}", and check the name of the office`,
  );
}

/** Returns the Computer of `--computer`, or the only Computer of the office. */
export async function chooseComputer(context: CommandContext): Promise<RemoteComputer> {
  const { agent, signal, computer: wanted } = context;
  const present = await namesIn(context);
  // The Server tells since when one sleeps that is not in the office any more.
  const isThere = present.includes(wanted ?? present[0] ?? "");
  const known = isThere ? [] : await agent.listPresence({ signal }) ?? [];
  const names = [...new Set([...present, ...known.map(({ computer }) => computer)])];
  requireComputers(agent, names);
  const [only = ""] = names;
  const list = names.map((name) => `"${name}"`).join(", ");
  if (wanted === undefined && names.length > 1) {
    throw new UsageError(`Cannot choose a Computer: the office has ${list}. Choose one with --computer`);
  }
  const chosen = wanted ?? only;
  if (names.includes(chosen)) return agent.computer(chosen);
  throw new SmcpError(ErrorCode.NOT_FOUND, `Cannot find Computer "${chosen}": the office has ${list}`);
}

/** @param computers What the Server tells of their presence, if it does. */
export function officeText(
  sessions: readonly SessionInfo[],
  computers: readonly ComputerPresence[] = [],
  { strong, faint }: Palette = PLAIN,
): string {
  const present = new Set(sessions.filter(({ role }) => role === "computer").map(({ name }) => name));
  const gone = computers.filter(({ computer }) => !present.has(computer));
  if (sessions.length + gone.length === 0) return "the office is empty";
  const hasOffices = new Set(sessions.map(({ office_id }) => office_id)).size > 1;
  const states = new Map(computers.map((each) => [each.computer, presenceText(each)]));
  const rows = sessions.map(({ role, name, office_id, a2c_version }) => [
    role,
    name,
    `protocol ${a2c_version ?? "unknown"}`,
    ...(hasOffices ? [`office ${toSeenWord(office_id)}`] : []),
    role === "computer" ? states.get(name) ?? "presence unknown" : "",
  ]);
  const asleep = gone.map((each) => ["computer", each.computer, presenceText(each)]);
  return drawColumns([...rows, ...asleep], { paints: [undefined, strong, faint] });
}

function presenceText({ asleep_since, last_read }: ComputerPresence): string {
  if (asleep_since !== undefined) return sleepText(asleep_since);
  return last_read === undefined ? "presence unknown" : "awake";
}

export function eventText(event: AgentEvent): string {
  return printableLine(describeEvent(event));
}

function describeEvent(event: AgentEvent): string {
  const { type } = event;
  switch (type) {
    case "enterOffice":
    case "leaveOffice":
      return `${event.role} ${event.name} ${type === "enterOffice" ? "joined" : "left"}`;
    case "updateConfig":
    case "updateToolList":
    case "updateDesktop":
    case "updateFinder":
    case "updateResources":
    case "updatePrompts":
      return `computer ${event.computer}: ${CHANGES[type]} changed`;
    case "updateProgress":
      return `computer ${event.computer}: call ${event.reqId} ${progressText(event)}`;
    case "cancelToolCall":
      return `agent ${event.agent} cancelled call ${event.reqId}`;
    case "notification":
      return `${event.event} ${JSON.stringify(event.body) ?? ""}`.trimEnd();
    case "disconnected":
      return `connection lost (${event.reason})`;
    case "reconnected":
      return "connection restored";
    case "failed":
      return `connection failed: ${event.error.message}`;
    default:
      return `computer ${event.computer}: ${type}`;
  }
}

const CHANGES = {
  updateConfig: "configuration",
  updateToolList: "tools",
  updateDesktop: "desktop",
  updateFinder: "documents",
  updateResources: "resources",
  updatePrompts: "prompts",
} as const;

export function configText(
  { servers, inputs }: GetComputerConfigRet,
  { strong, faint }: Palette = PLAIN,
): string {
  const rows = Object.entries(servers).map(([name, server]) => [
    toSeenWord(name),
    server.type,
    server.disabled ? "disabled" : "enabled",
    addressOf(server),
  ]);
  const asked = (inputs ?? []).map((
    { id, type, description },
  ) => [`input ${toSeenWord(id)}`, type, description]);
  const shown = rows.length === 0
    ? "no MCP servers"
    : drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
  return [shown, drawColumns(asked, { paints: [strong] })].filter((text) => text !== "")
    .join("\n\n");
}

function addressOf(server: MCPServerConfig): string {
  if (server.type !== "stdio") return server.server_parameters.url;
  const { command, args } = server.server_parameters;
  return [command, ...args].join(" ");
}
