/** The generated parts of `docs/benchmarks.md`, made from what the benchmarks printed. Pure. */
import { judge, rowsBehind } from "../relay/goals.ts";
import { OURS, SECTIONS } from "../relay/options.ts";
import type { Cell } from "../relay/results.ts";
import { renderTable, rowsLimitedByGenerator } from "../relay/table.ts";

/** What `bench/relay/main.ts` writes with `--json`. */
export interface RelayReport {
  readonly titles: Readonly<Record<string, string>>;
  readonly cells: readonly Cell[];
}

/** A command that has run. */
export interface Output {
  /** The part of the page that shows it. */
  readonly section: string;
  readonly command: string;
  readonly beganAt: Date;
  readonly seconds: number;
  /** The load average of the last minute, before and after. */
  readonly load: readonly [before: number, after: number];
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of a benchmark of the relay. */
  readonly report?: RelayReport;
}

/** All commands of one run, with the machine and the state of the code that they ran on. */
export interface Run {
  readonly environment: string;
  readonly outputs: readonly Output[];
}

/** The exit code of a benchmark with a figure above its goal. */
const MISSED = 2;
/** What a command prints when it leaves something out, or cannot measure as it should. */
const NOTE = /^(?:SKIPPED|FAILED|REDUCED|DISTURBED): .*$/gm;
const GOAL = /\s*\((?:held )?((?:below|at most) [^)]*)\)/;
/** What was measured, and the figures: `a call: 3 ms`, or columns of plain text. */
const LINE = /^(.*?)(?:: |\s{2,})(.*)$/;

/** Throws a `TypeError` if a command did not measure everything: it has neither met its goals nor missed one. */
export function checkEnded({ command, code }: Pick<Output, "command" | "code">): void {
  if (code === 0 || code === MISSED) return;
  throw new TypeError(`Cannot use the results of "${command}": exit code ${code}, see its output`);
}

/** The page with the parts between its markers written anew. Throws a `TypeError` if it has no markers for a part. */
export function withResults(page: string, { environment, outputs }: Run): string {
  const parts = Map.groupBy(outputs, ({ section }) => section);
  const first = replacePart(page, "run", `${environment}\n\n${renderOutputs(outputs)}`);
  return [...parts].reduce((text, [name, group]) => replacePart(text, name, renderSection(group)), first);
}

/** The page with this text between the markers of a part. Throws a `TypeError` if it has no such markers. */
export function replacePart(page: string, name: string, text: string): string {
  const marks = [`<!-- ${name}: written by \`deno task bench:page\` -->`, `<!-- /${name} -->`] as const;
  const [begin, end] = marks.map((mark) => page.indexOf(mark));
  if (begin === undefined || end === undefined || begin < 0 || end < begin) {
    throw new TypeError(`Cannot write the part "${name}": no "${marks.join(" … ")}" on the page`);
  }
  return `${page.slice(0, begin)}${marks[0]}\n\n${text}\n\n${page.slice(end)}`;
}

/** What was measured by which command, and when. */
function renderOutputs(outputs: readonly Output[]): string {
  const rows = outputs.map(({ section, command, beganAt, seconds, load, code }) => [
    `[${section}](#${section})`,
    `\`${command}\``,
    beganAt.toISOString().slice(0, 16).replace("T", " "),
    `${Math.round(seconds)} s`,
    ...load.map((average) => average.toFixed(1)),
    code === 0 ? "" : "a goal was missed",
  ]);
  return tableOf(["results", "command", "began, UTC", "took", "load before", "load after", ""], rows);
}

function renderSection(outputs: readonly Output[]): string {
  const notes = outputs.flatMap(({ stderr }) => stderr.match(NOTE) ?? []).map((note) => `- ${note}`);
  const reports = outputs.flatMap(({ report }) => report ?? []);
  const texts = outputs.filter(({ report }) => report === undefined).map(({ stdout }) => stdout.trim())
    .filter((text) => text !== "");
  const rows = texts.filter((text) => !isMarkdown(text)).flatMap((text) => text.split("\n").map(rowOf));
  return [
    notes.join("\n"),
    reports.length > 0 ? renderRelay(mergeReports(reports)) : "",
    rows.length > 0 ? tableOf(["what", "measured", "goal"], rows) : "",
    ...texts.filter(isMarkdown),
  ].filter((part) => part !== "").join("\n\n");
}

function isMarkdown(text: string): boolean {
  return text.startsWith("|");
}

function rowOf(line: string): readonly string[] {
  const [, what = line, figures = ""] = LINE.exec(line.replace(GOAL, "")) ?? [];
  return [what, figures, GOAL.exec(line)?.[1] ?? ""];
}

/** The results of all commands of the relay as those of one. */
export function mergeReports(reports: readonly RelayReport[]): RelayReport {
  return {
    titles: Object.assign({}, ...reports.map(({ titles }) => titles)),
    cells: reports.flatMap(({ cells }) => cells),
  };
}

function renderRelay({ cells, titles }: RelayReport): string {
  const verdicts = judge(cells, OURS).map(({ goal, value, isMet }) => [
    goal,
    value,
    isMet === undefined ? "–" : isMet ? "yes" : "**no**",
  ]);
  const behind = rowsBehind(cells, OURS, "rust").map((row) => `- ${row}`).join("\n");
  const limited = rowsLimitedByGenerator(cells, titles).map((row) => `- ${row}`).join("\n");
  return [
    "![The relay: our Server and others under the same load](benchmarks.svg)",
    `### Goals of our Server\n\n${tableOf(["goal", "measured", "met"], verdicts)}`,
    ...behind === "" ? [] : [`### Where the official Rust Server is ahead\n\n${behind}`],
    ...SECTIONS.map((section) => renderTable(cells.filter((cell) => cell.section === section), titles)),
    ...limited === "" ? [] : [`Limited by the load generator, not by the Server:\n\n${limited}`],
  ].join("\n\n").replaceAll(/^## /gm, "### ");
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
