/** `service install`, `status`, `uninstall`, `logs` */
import { delay } from "../../../async/backoff.ts";
import { showProgress } from "../../../terminal/progress.ts";
import { currentScreen } from "../../../terminal/screen.ts";
import { alignColumns } from "../../../terminal/shapes.ts";
import { quoteWord } from "../../../terminal/words.ts";
import { toSafeLine } from "../../../text/safe_text.ts";
import { timeText } from "../../../text/text.ts";
import { type CommandAnswer, showAnswer } from "../../answers/answer.ts";
import { ExitCode, printError, UsageError } from "../../outcome.ts";
import { programCommand } from "../../other_program.ts";
import { commandLineOf } from "../../program.ts";
import { runTool } from "../../system_tool.ts";
import { statusOf } from "../ask_computer.ts";
import type { OnceContext } from "../once.ts";
import { type ComputerCliOptions, defaultName } from "../open_computer.ts";
import { removeKeeperFiles } from "./keeper.ts";
import { JoinedServer } from "../../machine/joined_server.ts";
import { openLaunchd } from "./launchd.ts";
import { planService } from "./plan.ts";
import {
  installedIds,
  isInstalled,
  type LogsOptions,
  nameOfId,
  type RunState,
  serviceFile,
  serviceId,
  type ServiceSystem,
} from "./system.ts";
import { openSystemd } from "./systemd.ts";
import { openTaskScheduler } from "./task_scheduler.ts";

/** How long an installation waits for the office, in milliseconds, and how often it looks. */
const ARRIVAL_MS = 20_000;
const LOOK_MS = 250;
const INSTALL = "a2c-smcp computer service install";

function openSystem(): ServiceSystem {
  switch (Deno.build.os) {
    case "windows":
      return openTaskScheduler();
    case "darwin":
      return openLaunchd();
    default:
      return openSystemd();
  }
}

export async function install(
  { program, args, signal }: OnceContext,
  { behind, envFile }: { readonly behind: readonly string[]; readonly envFile?: string | undefined },
): Promise<void> {
  const system = openSystem();
  const plan = await planService(program, { args, behind, envFile });
  const { service = "" } = plan.joined ?? {};
  const id = await isInstalled(system, service) ? service : serviceId(plan.name);
  const isRunning = await isInstalled(system, id) && (await system.stateOf(id)).status === "running";
  if (!isRunning && "name" in await statusOf(plan.name)) {
    const quit = `${commandLineOf("computer")} quit --name ${quoteWord(plan.name)}`;
    throw new UsageError(
      `Cannot install the service: Computer "${plan.name}" runs already without it; stop it with "${quit}" first`,
    );
  }
  await system.install(id, plan);
  await (await JoinedServer.ofService(id))?.keep({ service: undefined });
  await plan.joined?.keep({ service: id });
  using progress = showProgress("");
  progress.update("waiting for the office");
  await untilArrived(system, { id, name: plan.name, signal });
  progress[Symbol.dispose]();
  show(program, await statusAnswer(system, id));
}

/** Until the new start is in its office or has ended, or the time is over. */
async function untilArrived(
  system: ServiceSystem,
  { id, name, signal }: { readonly id: string; readonly name: string; readonly signal: AbortSignal },
): Promise<void> {
  // systemd tells whole seconds.
  const startMs = Math.floor(Date.now() / 1_000) * 1_000;
  while (Date.now() < startMs + ARRIVAL_MS) {
    const { status, lastExit } = await system.stateOf(id);
    if (status !== "running" && lastExit !== undefined && lastExit.atMs >= startMs) return;
    const { office, connected } = await statusOf(name);
    if (connected === true && typeof office === "string") return;
    await delay(LOOK_MS, signal);
  }
}

/** The name that the Computer of a service has now. */
async function nameOfService(id: string): Promise<string> {
  return (await JoinedServer.ofService(id))?.machine?.name ?? nameOfId(id);
}

export async function showServiceStatus({ program }: OnceContext): Promise<void> {
  const system = openSystem();
  show(program, await statusAnswer(system, await chosenId(program, system)));
}

async function statusAnswer(system: ServiceSystem, id: string): Promise<CommandAnswer> {
  const name = await nameOfService(id);
  const facts = { name, system: system.title };
  const failure = `The service of Computer "${name}" does not run`;
  if (!await isInstalled(system, id)) {
    const next = `run "${INSTALL}"`;
    const rows = [["computer", toSafeLine(name)], ["service", "not installed"], ["next", next]];
    const value = { ...facts, ...NOT_INSTALLED, next };
    return { value, text: alignColumns(rows).join("\n"), failure };
  }
  const run = await system.stateOf(id);
  const isRunning = run.status === "running";
  const { office = null, server = null, connected = false } = isRunning ? await statusOf(name) : {};
  const isInOffice = connected === true && office !== null;
  const next = nextStep(run, { isInOffice, restartLine: system.restartLine(id) });
  const file = serviceFile(system, id);
  const { status: state, lastExit = null, restarts = 0 } = run;
  const at = lastExit && new Date(lastExit.atMs).toISOString();
  const last_exit = lastExit && { code: lastExit.code, signal: lastExit.signal, at };
  const since = run.sinceMs === undefined ? null : new Date(run.sinceMs).toISOString();
  const place = `${connected ? "" : "not "}connected to ${server ?? "a Server"}`;
  const rows = [
    ["computer", toSafeLine(name)],
    ["service", `${system.title}, ${file}`],
    ["starts", await system.startText()],
    ["state", `${state}, ${isRunning && since ? `since ${timeText(since)}, ` : ""}${restarts} restarts`],
    ...lastExit === null ? [] : [["last exit", exitText(lastExit)]],
    ...isRunning ? [["office", `${toSafeLine(String(office ?? "none yet"))}, ${place}`]] : [],
    ...next === undefined ? [] : [["next", next]],
  ];
  const value = {
    ...facts,
    file,
    state,
    since,
    restarts,
    last_exit,
    office,
    server,
    connected,
    next: next ?? null,
  };
  return { value, text: alignColumns(rows).join("\n"), failure: isRunning ? undefined : failure };
}

const NOT_INSTALLED = {
  ...{ file: null, state: "not installed", since: null, restarts: 0, last_exit: null },
  ...{ office: null, server: null, connected: false },
};

function exitText({ code, signal, atMs }: NonNullable<RunState["lastExit"]>): string {
  return `${code === undefined ? `signal ${signal}` : `code ${code}`} at ${timeText(atMs)}`;
}

/** What the owner does next; `undefined` when all is well. */
function nextStep(
  { status, lastExit }: RunState,
  { isInOffice, restartLine }: { readonly isInOffice: boolean; readonly restartLine: string },
): string | undefined {
  const logs = '"service logs" shows why';
  if (status === "waiting") return `it has failed, and starts again by itself; ${logs}`;
  if (status === "running") return isInOffice ? undefined : `if it stays so, ${logs}`;
  if (lastExit?.code === ExitCode.USAGE) {
    return `an option or the config is invalid, ${logs}; then run "${restartLine}"`;
  }
  if (lastExit?.code === ExitCode.REFUSED) {
    return `the Server has refused it, ${logs}; then run "${restartLine}"`;
  }
  return `it was stopped; run "${restartLine}"`;
}

export async function uninstall({ program }: OnceContext): Promise<void> {
  const system = openSystem();
  const id = await chosenId(program, system);
  const name = await nameOfService(id);
  const removed = await isInstalled(system, id);
  if (removed) {
    const { command, args } = programCommand("computer");
    // Windows ends a task without asking its programs.
    if (Deno.build.os === "windows") await runTool(command, [...args, "quit", "--name", name]);
    await system.remove(id);
    await (await JoinedServer.ofService(id))?.keep({ service: undefined });
  }
  await removeKeeperFiles(id);
  const text = removed ? `removed the service of Computer "${name}"` : `Computer "${name}" has no service`;
  show(program, { value: { name, removed }, text });
}

export async function printServiceLogs(
  { program, signal }: OnceContext,
  options: Omit<LogsOptions, "signal">,
): Promise<void> {
  const system = openSystem();
  const id = await chosenId(program, system);
  if (await isInstalled(system, id)) return await system.printLogs(id, { ...options, signal });
  throw new UsageError(
    `Cannot show the log of Computer "${nameOfId(id)}": it has no service; run "${INSTALL}"`,
  );
}

function show(program: OnceContext["program"], answer: CommandAnswer): void {
  const { json } = program.opts<ComputerCliOptions>();
  showAnswer(answer, { print: console.log, printError }, { json, screen: currentScreen() });
}

/** The service that `--name` names, or the only one. */
async function chosenId(program: OnceContext["program"], system: ServiceSystem): Promise<string> {
  const { name } = program.opts<ComputerCliOptions>();
  const ids = await installedIds(system);
  const names = await Promise.all(ids.map(nameOfService));
  const named = name === undefined ? undefined : ids[names.indexOf(name)] ?? serviceId(name);
  // A variable may be meant for the Agent.
  const isMeant = program.getOptionValueSource("name") === "cli";
  if (named !== undefined && (isMeant || ids.includes(named))) return named;
  const [only = serviceId(defaultName()), ...more] = ids;
  if (more.length === 0) return only;
  const list = names.map((each) => `"${each}"`).join(", ");
  throw new UsageError(`Cannot choose a service: ${list} are installed; choose one with --name`);
}
