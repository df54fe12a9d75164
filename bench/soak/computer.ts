/** The Computer of the soak, in a separate process. It reads commands from stdin and writes answers to stdout. */
import v8 from "node:v8";
import { Computer } from "../../src/computer/computer.ts";
import type { Logger } from "../../src/log.ts";
import { describeError } from "../../src/text/text.ts";
import type { Command, Line, OwnMeasure } from "./commands.ts";

/** Short limits, so that many hanging servers are detected in half an hour. */
const LIMITS = {
  startTimeoutMs: 6_000,
  pingIntervalMs: 2_000,
  pingTimeoutMs: 1_000,
  readTimeoutMs: 3_000,
  viewDeadlineMs: 1_000,
  windowMaxAgeMs: 3_000,
  documentMaxAgeMs: 10_000,
};

/** The time between a garbage collection and a measurement, in milliseconds. */
const SETTLE_MS = 300;

let computer: Computer | undefined;

function print(line: Line): void {
  console.log(JSON.stringify(line));
}

/** Which log lines to pass on: tool calls, and lines above the debug level. */
const logger: Logger = {
  debug: (log, fields = {}) => log === "tool call" && print({ log, level: "debug", fields }),
  info: (log, fields = {}) => print({ log, level: "info", fields }),
  warn: (log, fields = {}) => print({ log, level: "warn", fields }),
  error: (log, fields = {}) => print({ log, level: "error", fields }),
};

function open(config: unknown): void {
  computer = Computer.open({ name: "computer", config, limits: LIMITS, logger });
}

async function join(url: string, office: string): Promise<void> {
  await opened().join({ url, office, onFailed: (error) => print({ failed: error.message }) });
}

function opened(): Computer {
  if (computer === undefined) throw new TypeError("Cannot do anything with the Computer: not open");
  return computer;
}

async function obey(command: Command): Promise<unknown> {
  switch (command.do) {
    case "open":
      return open(command.config);
    case "join":
      return await join(command.url, command.office);
    case "leave":
      return await opened().leave();
    case "reconfigure":
      return await opened().reconfigure(command.config);
    case "startServer":
    case "stopServer":
    case "restartServer":
      return await opened()[command.do](command.server);
    case "setInput":
      return await opened().setInput(command.input, command.value);
    case "callTool":
      return await opened().callTool(command.tool, command.params, { timeoutMs: command.timeoutMs });
    case "states":
      return Object.fromEntries(opened().servers);
    case "measure":
      return await measure();
    case "snapshot":
      return v8.writeHeapSnapshot(command.file);
    case "close":
      return await opened().close();
  }
}

/** Collects garbage before a measurement; needs `--v8-flags=--expose-gc`. */
async function measure(): Promise<OwnMeasure> {
  const { gc } = globalThis as { gc?: (options: Readonly<Record<string, string>>) => void };
  // Otherwise V8 may keep free memory for minutes, and then release a fifth of it at an unpredictable time.
  gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  // V8 returns the collected memory to the system in the background.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const { heapUsed, heapTotal, external } = Deno.memoryUsage();
  const resources = countResources();
  return {
    heapMib: heapUsed / 2 ** 20,
    heapTotalMib: heapTotal / 2 ** 20,
    externalMib: external / 2 ** 20,
    ...(resources === undefined ? {} : { resources }),
  };
}

/** Not a public API of Deno. Without it, only the file descriptors in `/proc` are counted. */
function countResources(): Record<string, number> | undefined {
  const { internal } = Deno as { internal?: symbol };
  const inside = internal === undefined ? undefined : Reflect.get(Deno, internal);
  const table: unknown = inside?.core?.resources?.();
  if (typeof table !== "object" || table === null) return undefined;
  const counts: Record<string, number> = {};
  for (const kind of Object.values(table)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

let rest = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, ...command }: Command & { id: number } = JSON.parse(line);
    obey(command as Command).then(
      (answer) => print({ id, answer: answer ?? null }),
      (error) => print({ id, error: describeError(error) }),
    );
  }
}
// A soak that was interrupted must not leave processes behind.
await computer?.close();
