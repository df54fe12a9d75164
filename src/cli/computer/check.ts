/** `computer.ts check [FILES…]`: reports the contents and the problems of configurations, as text or JSON. */
import { countOf } from "../../text/text.ts";
import { snakeCased } from "../answers/answer.ts";
import { changedToolsIn } from "../../computer/tools/approved_tools.ts";
import type { ProtocolMinor } from "../../protocol/version.ts";
import { ExitCode, ExitRequest, UsageError } from "../outcome.ts";
import { withConfigChecks } from "./config_store.ts";
import { readInputFile } from "./hosted_inputs.ts";
import type { SignInPlace } from "./keychain.ts";
import { openApprovals, openTokens } from "./state_files.ts";
import { shellLoginCommand } from "../program.ts";
import { alignColumns } from "../../terminal/shapes.ts";
import { printable, printableLine, toSafeJson } from "../../text/safe_text.ts";
import {
  checkConfigFile,
  checkConfigSource,
  type CheckedInput,
  type CheckedVariable,
  type ConfigChecks,
  type ConfigReport,
} from "../../config/check.ts";
import { DIALECTS } from "../../config/foreign/dialects.ts";
import { readConfigStream } from "../../config/file.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { inputVariable } from "../../config/placeholders.ts";

const STDIN = "-";

/**
 * Checks configuration files and prints a report of each on stdout.
 *
 * @param files The files; `-` is standard input.
 * @param options `json`: print the report as JSON, for several files a list of reports; `checks`: what to check beyond
 *   the form; `stdin`: reads standard input.
 * @throws {ExitRequest} with exit code 2 if a configuration is invalid or a server in it cannot start.
 */
export async function runCheck(
  files: readonly string[],
  { json = false, checks = {}, stdin = readStdin }: {
    readonly json?: boolean | undefined;
    readonly checks?: ConfigChecks;
    readonly stdin?: () => Promise<string>;
  } = {},
): Promise<void> {
  const reports: ConfigReport[] = [];
  for (const file of new Set(files)) {
    const report = file === STDIN
      ? await checkConfigSource(stdin, { file: "stdin", checks })
      : await checkConfigFile(file, checks);
    reports.push(report);
    if (!json) console.log(`${reports.length > 1 ? "\n" : ""}${printable(reportText(report))}`);
  }
  const values = reports.map(toReportJson);
  if (json) console.log(toSafeJson(values.length === 1 ? values[0] : values, 2));
  if (reports.some(({ problems, failures }) => problems.length + failures.length > 0)) {
    throw new ExitRequest(ExitCode.USAGE);
  }
}

export interface OwnChecks {
  readonly protocol: ProtocolMinor | undefined;
  /** The file of inputs. */
  readonly inputs: string | undefined;
  /** The name of the Computer. */
  readonly name: string;
  readonly signIns?: SignInPlace | undefined;
}

/** Checks also what a Computer of this machine knows: programs, inputs, sign-ins and allowed tools. */
export async function withOwnChecks<T>(
  { protocol, inputs, name, signIns }: OwnChecks,
  use: (checks: ConfigChecks) => Promise<T>,
): Promise<T> {
  const givenInputs = inputs === undefined ? undefined : await idsOfInputs(inputs);
  const changed = changedToolsIn(await openApprovals(name)?.read() ?? "");
  const own = {
    protocol,
    programs: true,
    givenInputs,
    isSignedIn: async (server: string) =>
      (await openTokens(signIns).read(server)).some(({ tokens }) => tokens !== undefined),
    changedTools: (server: string) => Promise.resolve(changed.get(server) ?? new Map<string, string>()),
  };
  return await withConfigChecks((checks) => use({ ...checks, ...own }));
}

async function idsOfInputs(file: string): Promise<ReadonlySet<string>> {
  try {
    return new Set((await readInputFile(file)).keys());
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message, { cause: error }) : error;
  }
}

async function readStdin(): Promise<string> {
  return await readConfigStream(Deno.stdin.readable, "stdin");
}

export function toReportJson(report: ConfigReport): Record<string, unknown> {
  return {
    ...report,
    servers: report.servers.map(snakeCased),
    inputs: report.inputs.map(snakeCased),
    variables: report.variables.map(snakeCased),
  };
}

/** A report as text: the contents, the problems with their places, and a summary. */
export function reportText(report: ConfigReport): string {
  const { file, form, servers, warnings } = report;
  const problems = [...report.problems, ...report.failures];
  const heading = form === null
    ? printableLine(file)
    : `${printableLine(file)}: ${DIALECTS[form].title}, ${countOf(servers.length, "server")}`;
  const places = [
    ...problems.map((problem) => findingText(problem, { file, kind: "error" })),
    ...warnings.map((warning) => findingText(warning, { file, kind: "warning" })),
  ];
  const verdict = problems.length === 0 ? readyText(report) : countOf(problems.length, "error");
  const sum = `${verdict}${warnings.length === 0 ? "" : `, ${countOf(warnings.length, "warning")}`}`;
  return [heading, contentText(report), places.join("\n"), sum].filter((part) => part !== "").join("\n\n");
}

/** What is missing before the servers can start. A value can be given later, so this is no error. */
function readyText({ file, servers, inputs, variables }: ConfigReport): string {
  if (servers.length === 0) return "no servers";
  const started = new Set(servers.filter(({ disabled }) => !disabled).map(({ name }) => name));
  const isNeeded = ({ isSet, usedBy }: CheckedInput | CheckedVariable) =>
    isSet === false && usedBy.some((server) => started.has(server));
  const unset = variables.filter((variable) => !variable.hasDefault && isNeeded(variable));
  const unanswered = inputs.filter((input) => !input.hasValue && isNeeded(input));
  const wanting = servers.filter(({ disabled, needsSignIn }) => !disabled && needsSignIn === true);
  const missing = [
    ...(unset.length === 0
      ? []
      : [`these environment variables are set: ${unset.map(({ name }) => name).join(", ")}`]),
    ...(unanswered.length === 0 ? [] : [`these inputs have values: ${unanswered.map(inputText).join(", ")}`]),
    ...wanting.map(({ name }) =>
      `you have signed in at ${name} (run ${shellLoginCommand(name, { config: file })})`
    ),
  ];
  return missing.length === 0
    ? "ready to use"
    : `ready to use after ${missing.map(printableLine).join("; and ")}`;
}

function inputText({ id }: CheckedInput): string {
  return `${id} (${inputVariable(id)}, --inputs FILE, or a terminal that asks)`;
}

function contentText({ servers, inputs, variables }: ConfigReport): string {
  const use = (names: readonly string[]) => names.length === 0 ? "not used" : `for ${names.join(", ")}`;
  const rows = [
    ...servers.map(({ name, type, disabled }) => ["server", name, type, disabled ? "disabled" : ""]),
    ...servers.flatMap(({ name, sandbox }) => sandbox === undefined ? [] : [["sandbox", name, "", sandbox]]),
    ...inputs.map((input) => ["input", input.id, input.type, `${use(input.usedBy)}, ${originText(input)}`]),
    ...variables.map((variable) => ["variable", variable.name, stateOf(variable), use(variable.usedBy)]),
  ];
  return alignColumns(rows.map((row) => row.map(printableLine))).map((line) => `  ${line}`).join("\n");
}

function originText({ id, type, hasValue, isSet }: CheckedInput): string {
  const variable = inputVariable(id);
  if (isSet === true) return "is set";
  if (hasValue) return type === "command" ? "from its command" : "has a default";
  return `from ${variable}, --inputs FILE, or asked at a terminal`;
}

function stateOf({ hasDefault, isSet }: CheckedVariable): string {
  if (isSet === true) return "is set";
  if (hasDefault) return "has a default";
  return isSet === null ? "must be set" : "is not set";
}

/** `mcp.json:12:7 error: servers.files.command: is missing`, which terminals and editors make a link. */
function findingText(
  { message, path, line, column }: ConfigProblem,
  { file, kind }: { readonly file: string; readonly kind: "error" | "warning" },
): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return printableLine(`${place} ${kind}: ${path === "" ? "" : `${path}: `}${message}`);
}
