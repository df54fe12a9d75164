/** What the interop tests share: whether they can run, our roles as they use them, and waiting for what happens. */
import { fromFileUrl } from "@std/path";
import type { Agent, AgentEventName, AgentEventOf } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import type { LogFields, Logger } from "../../server.ts";
import { silentLogger } from "../../src/log.ts";
import { isRecord } from "../../src/json/json.ts";
import { interopPython, interopSkipReason, PeerError } from "./peer.ts";

/** The token of every office in these tests. */
export const TOKEN = "s3cret";
/** In the Desktop of `windows_server.py`, the window that stays as it is. */
export const HELP = "window://interop.windows/help\n\nCall set_status to change the status window";
/** The document of `windows_server.py`. */
export const GUIDE = "dpe://interop.docs/guide";

const EVENT_TIMEOUT_MS = 60_000;
const skipReason = interopSkipReason();
if (skipReason !== undefined) console.log(`interop: skipped, ${skipReason}`);

/** Options for `Deno.test`: without the reference SDK the test is skipped, and the reason was printed. */
export const interop: { readonly ignore: boolean } = { ignore: skipReason !== undefined };

/** Our Computer with `windows_server.py` and `plain_server.py`, both started. */
export async function openComputer(name: string): Promise<Computer> {
  const computer = Computer.open({
    name,
    config: {
      servers: { windows: pythonServer("windows_server.py"), plain: pythonServer("plain_server.py") },
    },
  });
  await computer.ready();
  return computer;
}

/** A Computer's configuration with both MCP servers. */
export function configuration() {
  return { servers: { windows: pythonServer("windows_server.py"), plain: pythonServer("plain_server.py") } };
}

function pythonServer(file: string) {
  const command = interopPython();
  if (command === undefined) throw new PeerError(skipReason ?? "no Python");
  const args = ["-B", fromFileUrl(new URL(file, import.meta.url))];
  return { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters: { command, args } };
}

/** The next event of one name, and, when asked for, of one content. Begin to wait before you cause it. */
export function nextEvent<Name extends AgentEventName>(
  agent: Agent,
  type: Name,
  where: (event: AgentEventOf<Name>) => boolean = () => true,
): Promise<AgentEventOf<Name>> {
  const { promise, resolve, reject } = Promise.withResolvers<AgentEventOf<Name>>();
  const timer = setTimeout(() => {
    reject(new PeerError(`Waited ${EVENT_TIMEOUT_MS} ms in vain for our Agent to hear ${type}`));
  }, EVENT_TIMEOUT_MS);
  const unsubscribe = agent.on(type, (event) => {
    if (where(event)) resolve(event);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    unsubscribe();
  });
}

/** In the Desktop of `windows_server.py`, the window that tells its status. */
export function statusSays(text: string): string {
  return `window://interop.windows/status\n\nstatus: ${text}`;
}

/** Our Agent's Desktop, as soon as the status window says `text`. */
export function untilStatusSays(agent: Agent, text: string): Promise<AgentEventOf<"desktopRefreshed">> {
  return nextEvent(agent, "desktopRefreshed", ({ desktops }) => desktops.includes(statusSays(text)));
}

/** A logger that waits for one warning. */
export function waitForWarning(
  message: string,
): { readonly logger: Logger; readonly said: Promise<LogFields> } {
  const { promise, resolve } = Promise.withResolvers<LogFields>();
  const warn = (said: string, fields: LogFields = {}) => {
    if (said === message) resolve(fields);
  };
  return { logger: { ...silentLogger, warn }, said: promise };
}

/** What the tool `picture` of `windows_server.py` draws, in base64. */
export function picture(sizeBytes: number): string {
  return Uint8Array.from({ length: sizeBytes }, (_, index) => index % 251).toBase64();
}

/** The fields of what a driver reported. */
export function fields(reported: unknown): Record<string, unknown> {
  if (isRecord(reported)) return reported;
  throw new PeerError(`Cannot read "${JSON.stringify(reported)}": not an object`);
}
