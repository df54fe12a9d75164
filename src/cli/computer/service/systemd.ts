/** A Computer as a service of the user's systemd, with its log in the journal. */
import { isAbsolute, join } from "@std/path";
import { replacePrivateFile } from "../../../files/files.ts";
import { isRecord, parseJson } from "../../../json/json.ts";
import { describeError } from "../../../text/text.ts";
import { ExitCode, UsageError } from "../../outcome.ts";
import { requireTool, runTool } from "../../system_tool.ts";
import type { ServicePlan } from "./plan.ts";
import {
  AT_SIGN_IN,
  type LogsOptions,
  requireVariable,
  type RunState,
  serviceFile,
  type ServiceSystem,
} from "./system.ts";

/** What systemd calls the exit of a process in the journal. */
const EXIT_MESSAGE = "98e322203f7a4ed290d09fe03c09fe15";
const SHOWN =
  "ActiveState,ExecMainCode,ExecMainStatus,ExecMainStartTimestamp,ExecMainExitTimestamp,NRestarts";

export function openSystemd(): ServiceSystem {
  // A shell of `su` lacks the variable; systemd and the Computer listen in the folder.
  if (!Deno.env.has("XDG_RUNTIME_DIR")) Deno.env.set("XDG_RUNTIME_DIR", `/run/user/${Deno.uid()}`);
  const config = Deno.env.get("XDG_CONFIG_HOME") || join(requireVariable("HOME"), ".config");
  const fileName = ["a2c-smcp-computer-", ".service"] as const;
  const place = { folder: join(config, "systemd", "user"), fileName };
  const unitOf = (id: string) => fileName.join(id);
  return {
    ...place,
    title: "systemd",
    async install(id, plan) {
      await systemctl("show", "--property=Version");
      await replacePrivateFile(serviceFile(place, id), unitText(plan));
      await systemctl("daemon-reload");
      await systemctl("enable", unitOf(id));
      await systemctl("restart", unitOf(id));
      // Where that is not allowed, `startText` says how it is turned on.
      if (!await isLingering()) await runTool("loginctl", ["--no-ask-password", "enable-linger"]);
    },
    async remove(id) {
      await systemctl("disable", "--now", unitOf(id));
      await Deno.remove(serviceFile(place, id));
      await systemctl("daemon-reload");
      await runTool("systemctl", ["--user", "reset-failed", unitOf(id)]);
    },
    stateOf: (id) => readState(unitOf(id)),
    startText,
    restartLine: (id) => `systemctl --user restart ${unitOf(id)}`,
    printLogs: (id, options) => printJournal(unitOf(id), options),
  };
}

async function systemctl(...args: string[]): Promise<string> {
  return await requireTool("systemctl", "--user", ...args).catch((cause) => {
    if (!/to bus|booted with|no program/i.test(describeError(cause))) throw cause;
    throw new UsageError(`${describeError(cause)}; ${NO_SESSION}`, { cause });
  });
}

const NO_SESSION =
  'systemd keeps no session for this user: sign in as the user ("su" and "sudo" open none), or where ' +
  "there is no systemd, as in most containers, have the Computer started with --headless by what starts the container";

/**
 * The unit. A systemd before 254 ignores `RestartSteps`, and waits as long each time. No name and no folder ends a line: a
 * backslash there takes the next line in.
 */
export function unitText({ name, command, words, env, folder }: ServicePlan): string {
  const lineOf = (...line: readonly string[]) =>
    line.map((word) => quoted(word.replaceAll("$", "$$$$"))).join(" ");
  const files = command.filter((word) => isAbsolute(word));
  const variables = Object.entries(env).map(([variable, value]) =>
    `Environment=${quoted(`${variable}=${value}`)}`
  );
  return `# Written by "a2c-smcp computer service install", and removed by "a2c-smcp computer service uninstall".
[Unit]
Description=Computer ${escaped(name)} of A2C-SMCP
StartLimitIntervalSec=0

[Service]
Type=exec
# Without the program there is nothing to start again.
ExecCondition=${lineOf("/bin/sh", "-c", LOOK)} %n ${lineOf(...files)}
ExecStart=${lineOf(...command, ...words)}
WorkingDirectory=${escaped(folder)}/
${variables.join("\n")}
SyslogIdentifier=a2c-smcp
# SIGTERM to the Computer alone, which then ends its MCP servers.
KillMode=mixed
TimeoutStopSec=20
Restart=on-failure
RestartSec=5
RestartSteps=8
RestartMaxDelaySec=300
# The command line or the config is invalid, or the Server has refused the Computer for good.
RestartPreventExitStatus=${ExitCode.USAGE} ${ExitCode.REFUSED}

[Install]
WantedBy=default.target
`;
}

/** Says what to do when a file of the program is gone, such as after `npm uninstall`. */
const LOOK =
  'for file; do [ -e "$file" ] || { echo "$file is gone: install a2c-smcp again, or remove this service with: ' +
  'systemctl --user disable --now $0"; exit 1; }; done';

function quoted(word: string): string {
  return `"${escaped(word.replaceAll(/["\\]/g, "\\$&"))}"`;
}

/** `%` begins a specifier. */
function escaped(text: string): string {
  if (!/[\n\r\0]/.test(text)) return text.replaceAll("%", "%%");
  throw new UsageError(
    "Cannot install the service: a unit of systemd holds no option, variable or path with a line break",
  );
}

async function readState(unit: string): Promise<RunState> {
  const text = await systemctl("show", unit, "--timestamp=unix", `--property=${SHOWN}`);
  const values = new Map(
    text.split("\n").map((line) => [line.split("=", 1)[0], line.slice(line.indexOf("=") + 1)]),
  );
  const numberOf = (name: string) => Number(values.get(name)?.replace(/^@/, ""));
  const endedS = numberOf("ExecMainExitTimestamp");
  const startedS = numberOf("ExecMainStartTimestamp");
  // 1: it ended by itself.
  const how = numberOf("ExecMainCode") === 1 ? "code" : "signal";
  const hasEnded = endedS > 0;
  const restarts = numberOf("NRestarts");
  const state = values.get("ActiveState") ?? "";
  const isStopped = ["inactive", "failed", "deactivating"].includes(state);
  return {
    status: isStopped ? "stopped" : hasEnded && state === "activating" ? "waiting" : "running",
    restarts,
    ...startedS > 0 && !isStopped ? { sinceMs: startedS * 1000 } : {},
    lastExit: hasEnded
      ? { [how]: numberOf("ExecMainStatus"), atMs: endedS * 1000 }
      : restarts > 0
      ? await lastExitOf(unit)
      : undefined,
  };
}

/** The last exit in the journal: systemd itself forgets it with the next start. */
async function lastExitOf(unit: string): Promise<RunState["lastExit"]> {
  const match = [`USER_UNIT=${unit}`, `MESSAGE_ID=${EXIT_MESSAGE}`];
  const entry = parseJson((await runTool("journalctl", ["-q", "-n", "1", "-o", "json", ...match])).text);
  if (!isRecord(entry)) return undefined;
  const status = Number(entry["EXIT_STATUS"]);
  const atMs = Number(entry["__REALTIME_TIMESTAMP"]) / 1000;
  return entry["EXIT_CODE"] === "exited" ? { code: status, atMs } : { signal: status, atMs };
}

/** Whether the services of this user run without a sign-in. */
async function isLingering(): Promise<boolean> {
  const words = ["show-user", `${Deno.uid()}`, "--property=Linger", "--value"];
  return (await runTool("loginctl", words)).text === "yes";
}

async function startText(): Promise<string> {
  if (await isLingering()) return 'at boot, signed in or not ("loginctl disable-linger" changes that)';
  const name = Deno.env.get("USER") || Deno.env.get("LOGNAME") || `${Deno.uid()}`;
  return `${AT_SIGN_IN}; for a start at boot run "sudo loginctl enable-linger ${name}"`;
}

async function printJournal(unit: string, { lines, follow, signal }: LogsOptions): Promise<void> {
  const format = ["-q", "--no-pager", "--no-hostname", "--output=short-iso"];
  const args = [`--user-unit=${unit}`, ...format, `--lines=${lines}`, ...follow ? ["--follow"] : []];
  await new Deno.Command("journalctl", { args, stdin: "null", signal }).spawn().status;
}
