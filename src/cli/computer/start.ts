/** How long a start is waited for: that of the MCP servers, and the first connection to the Server. */
import { settledWithin, untilAborted } from "../../async/abortable.ts";
import type { Computer } from "../../computer/computer.ts";
import type { ConnectOptions } from "../../computer/office/office_link.ts";
import type { Logger } from "../../log.ts";
import { printAbove, printSafely } from "../../terminal/bottom_line.ts";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import { showProgress } from "../../terminal/progress.ts";
import { printable } from "../../text/safe_text.ts";
import { currentScreen, PLAIN } from "../../terminal/screen.ts";
import { quoteWord } from "../../terminal/words.ts";
import { countOf } from "../../text/text.ts";
import { failureText, paintFailure, toFailure } from "../outcome.ts";
import { loginCommand } from "../program.ts";

/** How long a command waits for MCP servers that start, in seconds, unless `--start-timeout` is given. */
const START_TIMEOUT_SECONDS = 10;
/** The same for a command that needs the server that has a tool: as long as a start may take. */
const TOOL_TIMEOUT_SECONDS = 60;
/**
 * After this time, in milliseconds, a command logs the servers that it waits for. A tool that is found is then called
 * at once, although a server of higher precedence that still starts could have a tool of the same name.
 */
const NOTICE_MS = 3_000;
/** How long the MCP servers delay the first prompt, in milliseconds; also the first join, unless `--start-timeout` is given. */
const START_GRACE_MS = 3_000;
/** How long the Server delays the first prompt, in milliseconds. */
const ARRIVAL_GRACE_MS = 2_000;

/** The MCP servers that a command needs; all of them by default. */
export interface AwaitedServers {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
}

export interface StartWaitOptions {
  readonly awaited: AwaitedServers;
  readonly timeoutSeconds: number | undefined;
  /** Whether a person is being asked for an input; the time-out then starts again. */
  readonly isAsking: () => boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Waits until the command can run, or the time is over; logs the servers that it waits for. */
export async function waitForStart(computer: Computer, options: StartWaitOptions): Promise<void> {
  const { awaited: { tool, server }, log, signal } = options;
  const seconds = options.timeoutSeconds ??
    (tool === undefined ? START_TIMEOUT_SECONDS : TOOL_TIMEOUT_SECONDS);
  const names = server === undefined ? [...computer.servers.keys()] : [server];
  const pending = new Map(names.map((name) => {
    const ready = computer.ready({ servers: [name], signal }).then(() => void pending.delete(name));
    ready.catch(() => {});
    return [name, ready];
  }));
  const wait = { ...options, pending };
  const hasOwner = () => tool !== undefined && ownerOf(tool, computer) !== undefined;
  const hasSureOwner = () => tool !== undefined && isOwnedWithout(pending, { tool, computer });
  const pendingNames = () => [...pending.keys()].join(", ");
  const restMs = seconds * 1000 - NOTICE_MS;
  if (await waitUntil(hasSureOwner, { ...wait, timeoutMs: Math.min(NOTICE_MS, seconds * 1000) })) return;
  if (restMs > 0 && !hasOwner()) {
    log.warn("waiting for MCP servers to start", { tool, servers: pendingNames() });
    if (await waitUntil(hasOwner, { ...wait, timeoutMs: restMs })) return;
  }
  log.warn("continuing without MCP servers that are still starting; --start-timeout sets how long to wait", {
    tool,
    servers: pendingNames(),
  });
}

/** Whether `isDone` holds, or no server is pending, before the time is over. */
async function waitUntil(
  isDone: () => boolean,
  { pending, isAsking, timeoutMs }: Pick<StartWaitOptions, "isAsking"> & {
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

function ownerOf(tool: string, computer: Computer): string | undefined {
  return [...computer.servers.keys()].find((server) => computer.toolsOf(server).includes(tool));
}

function isOwnedWithout(
  pending: ReadonlyMap<string, unknown>,
  { tool, computer }: { readonly tool: string; readonly computer: Computer },
): boolean {
  const owner = ownerOf(tool, computer);
  if (owner === undefined) return false;
  const names = [...computer.servers.keys()];
  return names.slice(0, names.indexOf(owner)).every((name) => !pending.has(name));
}

/** Shows how many MCP servers have started, for a few seconds or until Ctrl-C, and prints the result when all have. */
export async function reportStart(
  computer: Computer,
  { editor, signal }: { readonly editor: LineEditor; readonly signal: AbortSignal },
): Promise<void> {
  const names = [...computer.servers].filter(([, { status }]) => status !== "stopped").map(([name]) => name);
  if (names.length === 0) return;
  using interruption = editor.listenForInterrupt();
  using progress = showProgress("starting MCP servers");
  let settled = 0;
  const all = Promise.all(names.map(async (name) => {
    await computer.ready({ servers: [name], signal });
    progress.update(`${++settled} of ${names.length}`);
  })).then(async () => printSafely(startText(computer, names, await documentsText(computer, signal))))
    .catch(() => {});
  await settledWithin(Promise.race([all, untilAborted(interruption.signal)]), START_GRACE_MS);
}

/** ` and 12 documents`. */
async function documentsText(computer: Computer, signal: AbortSignal): Promise<string> {
  const { totalCount } = await computer.getFinder({ limit: 0, signal });
  return totalCount === 0 ? "" : ` and ${countOf(totalCount, "document")}`;
}

/** `3 of 4 MCP servers run, with 36 tools. "broken" does not run; "status" shows why` */
function startText({ servers, tools }: Computer, names: readonly string[], documents: string): string {
  const others = names.filter((name) => servers.get(name)?.status !== "running");
  const part = others.length === 0 ? "" : `${names.length - others.length} of `;
  const all = `${countOf(names.length, "MCP server")} ${names.length === 1 ? "runs" : "run"}`;
  const sum = `${part}${all}, with ${countOf(tools.length, "tool")}${documents}`;
  if (others.length === 0) return sum;
  const wanting = others.filter((name) => servers.get(name)?.status === "needs sign-in");
  const rest = others.filter((name) => !wanting.includes(name));
  const list = rest.map((name) => `"${name}"`).join(", ");
  const does = rest.length === 1 ? "does" : "do";
  return [
    sum,
    ...wanting.map((name) => `"${name}" needs a sign-in; run ${loginCommand(name)}`),
    ...rest.length === 0 ? [] : [`${list} ${does} not run; "status" shows why`],
  ].join(". ");
}

/** Where a Computer connects to, and with which credentials. */
export interface ArrivalOptions extends Omit<ConnectOptions, "timeoutMs" | "signal"> {
  /** The office to join; without it, the Computer only connects. */
  readonly office?: string | undefined;
  /** How long to retry when the name is taken, in milliseconds; 0 by default. */
  readonly joinPatienceMs?: number | undefined;
  /** How long the join waits for MCP servers that start, in milliseconds; 3 seconds by default. */
  readonly serversTimeoutMs?: number | undefined;
  readonly log: Logger;
}

/** Connects to a Server, and joins an office, in the background; retries until the Server accepts or refuses. */
export class OfficeArrival {
  readonly url: string;
  readonly office: string | undefined;
  /** How long the join waits for MCP servers that start, in milliseconds. */
  readonly serversTimeoutMs: number;
  /** Resolves to whether the Computer has arrived (`false` after `stop()`); rejects when the Server refuses. */
  readonly done: Promise<boolean>;
  readonly #stopping = new AbortController();
  #isOver = false;
  #isWaitingForServers = false;

  /** Connects at once, while the MCP servers start, so that a refused token is reported early. */
  constructor(computer: Computer, options: ArrivalOptions) {
    this.url = options.url;
    this.office = options.office;
    this.serversTimeoutMs = options.serversTimeoutMs ?? START_GRACE_MS;
    this.done = this.#arrive(computer, options).finally(() => this.#isOver = true);
    this.done.catch(() => {});
  }

  /** Whether the Computer has arrived, was refused, or {@linkcode stop} was called. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it is connected, and joins when the MCP servers have started or have had their time to start. */
  get isWaitingForServers(): boolean {
    return this.#isWaitingForServers;
  }

  /** Stops retrying; resolves when the attempt has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DOMException("Stopped", "AbortError"));
    await this.done.catch(() => {});
  }

  async #arrive(computer: Computer, options: ArrivalOptions): Promise<boolean> {
    const { office, joinPatienceMs, serversTimeoutMs: _, log, ...connectOptions } = options;
    const { signal } = this.#stopping;
    try {
      await computer.connect({ ...connectOptions, signal });
      if (office === undefined) return true;
      if (isStarting(computer)) log.info("connected; joining when the MCP servers run", { office });
      this.#isWaitingForServers = true;
      await computer.ready({ timeoutMs: this.serversTimeoutMs, signal });
      this.#isWaitingForServers = false;
      await computer.join({ ...connectOptions, office, joinPatienceMs, signal });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
}

function isStarting({ servers }: Computer): boolean {
  return [...servers.values()].some(({ status }) => status === "starting");
}

/** Waits a few seconds for the Server, or until Ctrl-C; prints above the prompt what happens later. */
export async function reportArrival(
  arrival: OfficeArrival,
  { name, editor }: { readonly name: string; readonly editor: LineEditor },
): Promise<void> {
  const { url, office } = arrival;
  const success = office === undefined ? `connected to ${url}` : `joined office "${office}" as "${name}"`;
  const again = office === undefined ? "connect" : `join ${quoteWord(office)}`;
  using interruption = editor.listenForInterrupt();
  using progress = showProgress("");
  progress.update(office === undefined ? `connecting to ${url}` : `joining ${office}`);
  const reported = arrival.done
    .then(
      (hasArrived) => hasArrived ? printSafely(success) : undefined,
      (error) => {
        const failure = paintFailure(failureText(toFailure(error)), currentScreen()?.palette ?? PLAIN);
        printAbove(`${failure}\n${printable(`"${again}" tries again`)}`);
      },
    )
    .finally(() => editor.redraw());
  await settledWithin(Promise.race([reported, untilAborted(interruption.signal)]), ARRIVAL_GRACE_MS);
  if (arrival.isOver) return;
  printSafely(
    arrival.isWaitingForServers
      ? `connected to ${url}; joins office "${office}" when the MCP servers run`
      : `cannot reach the Server at ${url} yet; retrying until "leave"`,
  );
}
