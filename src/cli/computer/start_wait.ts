/** How long a command that starts MCP servers for itself waits for them: for those that it needs, and not for ever. */
import { settledWithin } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import type { Computer } from "../../computer/computer.ts";

/** How long a command waits for MCP servers that start, in seconds, unless `--start-timeout` says otherwise. */
const START_TIMEOUT_SECONDS = 10;
/** The same where nothing can be done before the server is there that has the tool: as long as a start may take. */
const TOOL_TIMEOUT_SECONDS = 60;
/**
 * After this time the servers that are waited for are named, and a tool that is there waits no longer for servers of
 * higher precedence, which could have one of that name; in milliseconds.
 */
const NOTICE_MS = 3_000;

/** What a command needs of the MCP servers; all that there are when nothing is said. */
export interface AwaitedServers {
  /** Only this server. */
  readonly server?: string | undefined;
  /** Only the server that has this tool. */
  readonly tool?: string | undefined;
}

/** What the waiting depends on. */
export interface StartWaitContext {
  readonly awaited: AwaitedServers;
  /** `--start-timeout` */
  readonly timeoutSeconds: number | undefined;
  /** Whether a person is being asked for an input: nobody is hurried. */
  readonly isAsking: () => boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the command can begin; tells in the log which servers it waits for, and goes on without. */
export async function waitForStart(computer: Computer, context: StartWaitContext): Promise<void> {
  const { awaited: { tool, server }, log, signal } = context;
  const seconds = context.timeoutSeconds ??
    (tool === undefined ? START_TIMEOUT_SECONDS : TOOL_TIMEOUT_SECONDS);
  const names = server === undefined ? [...computer.servers.keys()] : [server];
  const pending = new Map(names.map((name) => {
    const ready = computer.ready({ servers: [name], signal }).then(() => void pending.delete(name));
    ready.catch(() => {});
    return [name, ready];
  }));
  const wait = { ...context, pending };
  const isOwned = () => tool !== undefined && ownerOf(tool, computer) !== undefined;
  const isOwnedForSure = () => tool !== undefined && isOwnedWithout(pending, { tool, computer });
  const noticeMs = Math.min(NOTICE_MS, seconds * 1000);
  if (await waitUntil(isOwnedForSure, { ...wait, timeoutMs: noticeMs })) return;
  if (!isOwned()) {
    log.warn("waiting for MCP servers", { servers: [...pending.keys()].join(", ") });
    if (await waitUntil(isOwned, { ...wait, timeoutMs: seconds * 1000 - noticeMs })) return;
  }
  log.warn("going on without MCP servers that are still starting; --start-timeout waits longer", {
    servers: [...pending.keys()].join(", "),
  });
}

/** Whether it is done, or nothing is pending any more, before the time is over. */
async function waitUntil(
  isDone: () => boolean,
  { pending, isAsking, timeoutMs }: Pick<StartWaitContext, "isAsking"> & {
    readonly pending: ReadonlyMap<string, Promise<void>>;
    readonly timeoutMs: number;
  },
): Promise<boolean> {
  do {
    const deadlineMs = performance.now() + timeoutMs;
    while (true) {
      if (pending.size === 0 || isDone()) return true;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) break;
      await settledWithin(Promise.race(pending.values()), leftMs);
    }
  } while (isAsking());
  return false;
}

/** The server that a call of this tool would go to now. */
function ownerOf(tool: string, computer: Computer): string | undefined {
  return [...computer.servers.keys()].find((server) => computer.toolsOf(server).includes(tool));
}

/** Whether no server that is still starting could be the tool's owner in place of the one that has it now. */
function isOwnedWithout(
  pending: ReadonlyMap<string, unknown>,
  { tool, computer }: { readonly tool: string; readonly computer: Computer },
): boolean {
  const owner = ownerOf(tool, computer);
  if (owner === undefined) return false;
  const names = [...computer.servers.keys()];
  return names.slice(0, names.indexOf(owner)).every((name) => !pending.has(name));
}
