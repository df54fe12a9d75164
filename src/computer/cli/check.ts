/** `computer.ts check FILE`: what a configuration says and what is wrong with it, for people and as JSON. */
import { countOf } from "../../cli/count.ts";
import { ExitCode } from "../../cli/exit_codes.ts";
import { ExitRequest } from "../../cli/program.ts";
import { alignColumns } from "../../cli/terminal/columns.ts";
import { printable, printableLine, toSafeJson } from "../../cli/terminal/safe_text.ts";
import { checkConfigFile, type ConfigChecks, type ConfigReport } from "../config/check.ts";
import type { ConfigForm } from "../config/form.ts";
import type { ConfigProblem } from "../config/problem.ts";
import { inputVariable } from "../inputs.ts";

const FORMS: Readonly<Record<ConfigForm, string>> = {
  smcp: "A2C-SMCP",
  vscode: "VS Code's mcp.json",
  mcpServers: "mcpServers (Claude, Cursor …)",
};

/**
 * Checks a configuration file and prints the report on stdout.
 *
 * @param file The file.
 * @param options `json`: print the report as it is; `checks`: what to check beyond the form.
 * @throws {ExitRequest} with exit code 2 when the configuration cannot be used.
 */
export async function runCheck(
  file: string,
  { json = false, checks = {} }: { readonly json?: boolean | undefined; readonly checks?: ConfigChecks } = {},
): Promise<void> {
  const report = await checkConfigFile(file, checks);
  console.log(json ? toSafeJson(report, 2) : printable(reportText(report)));
  if (report.problems.length > 0) throw new ExitRequest(ExitCode.USAGE);
}

/** A report as people read it: what there is, what is wrong and where, and a last line that sums up. */
export function reportText(report: ConfigReport): string {
  const { file, form, servers, warnings, problems } = report;
  const heading = form === null
    ? printableLine(file)
    : `${printableLine(file)}: ${FORMS[form]}, ${countOf(servers.length, "server")}`;
  const places = [
    ...problems.map((problem) => findingText(problem, { file, kind: "error" })),
    ...warnings.map((warning) => findingText(warning, { file, kind: "warning" })),
  ];
  const sum = `${problems.length === 0 ? "ready to use" : countOf(problems.length, "error")}${
    warnings.length === 0 ? "" : `, ${countOf(warnings.length, "warning")}`
  }`;
  return [heading, contentText(report), places.join("\n"), sum].filter((part) => part !== "").join("\n\n");
}

/** A line for each server, input and variable. */
function contentText({ servers, inputs, variables }: ConfigReport): string {
  const use = (names: readonly string[]) => names.length === 0 ? "not used" : `for ${names.join(", ")}`;
  const rows = [
    ...servers.map(({ name, type, disabled }) => ["server", name, type, disabled ? "disabled" : ""]),
    ...inputs.map(({ id, type, hasValue, usedBy }) => [
      "input",
      id,
      type,
      hasValue ? use(usedBy) : `${use(usedBy)}, from ${inputVariable(id)}`,
    ]),
    ...variables.map(({ name, hasDefault, usedBy }) => [
      "variable",
      name,
      hasDefault ? "has a default" : "must be set",
      use(usedBy),
    ]),
  ];
  return alignColumns(rows.map((row) => row.map(printableLine))).map((line) => `  ${line}`).join("\n");
}

/** `mcp.json:12:7 error: servers.files.command: is missing`, which terminals and editors make a link. */
function findingText(
  { message, path, line, column }: ConfigProblem,
  { file, kind }: { readonly file: string; readonly kind: "error" | "warning" },
): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return printableLine(`${place} ${kind}: ${path === "" ? "" : `${path}: `}${message}`);
}
