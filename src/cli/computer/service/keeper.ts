/**
 * Keeps a Computer running where the system knows neither back-off nor exit codes nor bounded logs: launchd and the Task
 * Scheduler start this keeper, and the keeper starts the Computer.
 */
import { join } from "@std/path";
import process from "node:process";
import { untilAborted } from "../../../async/abortable.ts";
import { Backoff, delay } from "../../../async/backoff.ts";
import { appendPrivateFile, readRegularFile, replacePrivateFile } from "../../../files/files.ts";
import { FileWatch, versionOf } from "../../../files/watched_files.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import { ExitCode } from "../../outcome.ts";
import { programCommand } from "../../other_program.ts";
import { stateFolder } from "../../../files/state_folder.ts";
import type { ServicePlan } from "./plan.ts";
import type { LogsOptions, RunState } from "./system.ts";

const BACK_OFF = { firstMs: 2_000, maxMs: 300_000 };
/** After a run of this time, in milliseconds, the back-off begins anew. */
const STABLE_MS = 60_000;
/** The most bytes of the log, and of the one before it. */
const MAX_LOG_BYTES = 5 * 1024 * 1024;
const MAX_STATE_BYTES = 65_536;
/** Codes after which another start would end in the same way. */
const FINAL_CODES: readonly number[] = [ExitCode.OK, ExitCode.USAGE, ExitCode.REFUSED];

/** The words that start the keeper. */
export function keeperWords(
  id: string,
  { command, words }: Pick<ServicePlan, "command" | "words">,
): string[] {
  return [...command, "service", "keep", id, "--", ...words];
}

function keeperFile(id: string, ending: string): string {
  return join(stateFolder() ?? Deno.cwd(), `service-${id}.${ending}`);
}

/** Removes what a keeper leaves. */
export async function removeKeeperFiles(id: string): Promise<void> {
  for (const ending of ["log", "log.1", "json"]) await Deno.remove(keeperFile(id, ending)).catch(() => {});
}

/** Runs the Computer until it ends for good, or the signal ends it. */
export async function keepRunning(id: string, words: readonly string[], signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(BACK_OFF);
  let lastExit: RunState["lastExit"];
  const tell = async (state: RunState) => {
    await replacePrivateFile(
      keeperFile(id, "json"),
      JSON.stringify({ keeper: Deno.pid, ...state, lastExit }),
    );
  };
  for (let restarts = 0; !signal.aborted; restarts++) {
    const run = { sinceMs: Date.now(), restarts };
    await tell({ ...run, status: "running" });
    const code = await runComputer(words, { log: keeperFile(id, "log"), signal });
    lastExit = { code, atMs: Date.now() };
    const isFinal = signal.aborted || FINAL_CODES.includes(code);
    await tell({ ...run, status: isFinal ? "stopped" : "waiting" });
    if (isFinal) return;
    if (lastExit.atMs - run.sinceMs >= STABLE_MS) backoff.reset();
    await delay(backoff.next(), signal).catch(() => {});
  }
}

async function runComputer(
  words: readonly string[],
  { log, signal }: { readonly log: string; readonly signal: AbortSignal },
): Promise<number> {
  const { command, args } = programCommand("computer");
  const child = new Deno.Command(command, {
    args: [...args, ...words],
    // The Computer ends when its keeper does.
    env: { A2C_LAUNCHER_PID: `${Deno.pid}` },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal,
  }).spawn();
  const copy = async (stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) appendPrivateFile(log, bytes, { maxBytes: MAX_LOG_BYTES });
  };
  const [{ code }] = await Promise.all([child.status, copy(child.stdout), copy(child.stderr)]);
  return code;
}

/** The state of a Computer, as its keeper has written it. */
export async function readKeeperState(id: string): Promise<RunState> {
  const reading = await readRegularFile(keeperFile(id, "json"), { maxBytes: MAX_STATE_BYTES });
  const state = "text" in reading ? parseJson(reading.text) : undefined;
  if (!isRecord(state)) return { status: "stopped" };
  const { keeper, status, lastExit } = state;
  const isUpToDate = isAlive(numberOf(keeper)) && (status === "running" || status === "waiting");
  return {
    status: isUpToDate ? status : "stopped",
    sinceMs: numberOf(state["sinceMs"]),
    restarts: numberOf(state["restarts"]),
    ...isRecord(lastExit)
      ? { lastExit: { code: numberOf(lastExit["code"]), atMs: numberOf(lastExit["atMs"]) } }
      : {},
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Prints the last lines of the log, and with `follow` what comes until the signal. */
export async function printKeeperLog(id: string, { lines, follow, signal }: LogsOptions): Promise<void> {
  const file = keeperFile(id, "log");
  const read = async (path: string) => await Deno.readTextFile(path).catch(() => "");
  let printed = await read(file);
  const all = `${await read(keeperFile(id, "log.1"))}${printed}`.trimEnd().split("\n");
  console.log(all.slice(-lines).join("\n"));
  if (!follow) return;
  await using _watch = new FileWatch([file], {
    since: await versionOf([file]),
    async onChange() {
      const text = await read(file);
      // A full log is moved aside, and a new one begins.
      const news = text.startsWith(printed) ? text.slice(printed.length) : text;
      printed = text;
      if (news !== "") console.log(news.trimEnd());
    },
  });
  await untilAborted(signal);
}
