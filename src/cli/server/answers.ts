/** What the commands for a running Server answer. */
import { untilAborted } from "../../async/abortable.ts";
import type { MemberValue, OfficeValue, OverviewValue, SeenValue } from "../../api_values.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { sleepText } from "../../protocol/presence.ts";
import type { MemberState, OfficeState, Overview } from "../../server/observe/insight.ts";
import type { RateSample } from "../../server/observe/rates.ts";
import { numberText } from "../../server/options/checks.ts";
import { drawColumns } from "../../terminal/shapes.ts";
import { toSeenName, toSeenWord } from "../../text/safe_text.ts";
import { countOf } from "../../text/text.ts";
import { listNames } from "../../text/spelling.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { colored, type CommandAnswer, snakeCased } from "../answers/answer.ts";
import { CommandFailedError, UsageError } from "../outcome.ts";
import { watchOffice } from "./office_watches.ts";
import type { EndFlags, OperatedServer, ServerCommandContext } from "./operated_server.ts";

/** A farewell is not longer. */
const MAX_REASON_LENGTH = 200;

export function showOverview(
  { insight, publicUrl: url, options, isShared, isHub }: OperatedServer,
): CommandAnswer {
  const overview = insight.overview();
  const { unready, refusedFiles, members, offices, memory, last15m } = overview;
  const value: OverviewValue = {
    url,
    version: PACKAGE_VERSION,
    ready: unready === undefined,
    unready: unready ?? null,
    refused_files: refusedFiles,
    uptime_s: Math.round(performance.now() / 1_000),
    shared: isShared,
    hub: isHub,
    members,
    offices,
    memory: snakeCased(memory),
    last15m: last15m.map(snakeCased),
    options,
  };
  const facts = [
    ["server", `${url}, version ${PACKAGE_VERSION}`],
    ["ready", unready === undefined ? "yes" : `no: ${unready}`],
    ...refusedFiles.map((problem) => ["files", `refused: ${problem}`]),
    ["members", membersText(overview)],
    ["calls", callsText(last15m)],
    ["memory", memoryText(memory)],
    ...options.map(({ name, value, default: usual }, index) => [
      index === 0 ? "options" : "",
      `${name} ${value}${usual === null ? "" : ` (default ${usual})`}`,
    ]),
    ...isShared ? [["", "This is one process of several; all of this is of this one alone"]] : [],
  ];
  return { value, ...colored(({ faint }) => drawColumns(facts, { paints: [faint] })) };
}

function membersText({ members, offices }: Overview): string {
  const { agent = 0, computer = 0, observer = 0, none = 0 } = members;
  const seated = [countOf(agent, "Agent"), countOf(computer, "Computer"), countOf(observer, "observer")];
  const outside = none === 0 ? "" : `; ${countOf(none, "connection")} outside of offices`;
  return `${seated.join(", ")} in ${countOf(offices, "office")}${outside}`;
}

/** The rate of the last seconds, and the errors and refusals of all samples. */
export function callsText(last15m: readonly RateSample[]): string {
  const now = last15m.at(-1);
  if (now === undefined) return "none counted yet";
  const { callsPerS, p50Ms, p95Ms } = now;
  const speed = p50Ms === undefined ? "" : `, p50 ${msText(p50Ms)}, p95 ${msText(p95Ms)}`;
  const failed = sumsOf(last15m.map(({ errors }) => errors)).map(([code, count]) => `${count} with ${code}`);
  const refused = sumsOf(last15m.map(({ refusals }) => refusals)).map(([reason, count]) =>
    `${count} ${reason}`
  );
  const more = [
    ...failed.length === 0 ? [] : [`; failed in the last 15 minutes: ${failed.join(", ")}`],
    ...refused.length === 0 ? [] : [`; refused in the last 15 minutes: ${refused.join(", ")}`],
  ];
  return `${callsPerS.toFixed(1)} per second${speed}${more.join("")}`;
}

function sumsOf(
  samples: readonly Readonly<Record<string, number>>[],
): readonly (readonly [string, number])[] {
  const sums: Record<string, number> = {};
  for (const [name, count] of samples.flatMap(Object.entries<number>)) sums[name] = (sums[name] ?? 0) + count;
  return Object.entries(sums);
}

function memoryText({ rss, messageBytes, maxMessageBytes }: Overview["memory"]): string {
  const bound = numberText("bytes", maxMessageBytes);
  return `${bytesText(rss)}; messages on their way take ${bytesText(messageBytes)} of ${bound}`;
}

export function showOffices({ insight }: OperatedServer): CommandAnswer {
  const offices = insight.offices();
  const rows = offices.map(({ office, agent, computers, observers }) => [
    toSeenWord(office),
    agent === undefined ? "no Agent" : `Agent ${toSeenWord(agent)}`,
    countOf(computers, "Computer"),
    observers === 0 ? "" : countOf(observers, "observer"),
  ]);
  return {
    value: offices.map((each): OfficeValue => ({ ...each, agent: each.agent ?? null })),
    ...colored(({ strong }) => drawColumns(rows, { paints: [strong] }) || "no offices"),
  };
}

export async function showMembers(
  { insight, isShared }: OperatedServer,
  office: string,
): Promise<CommandAnswer> {
  requireMembers(insight.offices(), { wanted: office, isShared });
  const members = await insight.members(office);
  const rows = members.map((member) => [
    member.isObserver ? "observer" : member.role,
    toSeenWord(member.name),
    member.asleepSince === undefined ? "online" : sleepText(member.asleepSince),
    ...connectionCells(member),
    member.sid,
  ]);
  return {
    value: members.map((each): MemberValue => snakeCased(each)),
    ...colored(({ faint, strong }) => drawColumns(rows, { paints: [faint, strong] })),
  };
}

function connectionCells(member: MemberState) {
  const { address, transport, principal, version, roundTripMs, answerP50Ms, answerP95Ms, waits } = member;
  const waiting = [
    ...waits.requests === 0 ? [] : [countOf(waits.requests, "request")],
    ...waits.bytes === 0 ? [] : [bytesText(waits.bytes)],
  ];
  return [
    `${principal}@${address}`,
    `${transport} ${version ?? "0.1"}`,
    msText(roundTripMs),
    answerP50Ms === undefined ? "" : `tool calls: p50 ${msText(answerP50Ms)}, p95 ${msText(answerP95Ms)}`,
    waiting.length === 0 ? "" : `waits: ${waiting.join(", ")}`,
  ];
}

/** An office is there as long as it has members, so that a name without any need not be a wrong one. */
function requireMembers(
  offices: readonly OfficeState[],
  { wanted, isShared }: { readonly wanted: string; readonly isShared: boolean },
): void {
  const names = offices.map(({ office }) => office);
  if (names.includes(wanted)) return;
  const others = `offices with members: ${listNames(names)}`;
  const where = isShared ? " at this process, which is one of several," : "";
  throw new CommandFailedError(`Office ${toSeenName(wanted)} has no members${where} now (${others})`);
}

export function endConnections({ insight, actor }: OperatedServer, flags: EndFlags): CommandAnswer {
  const { member: sid = "", principal, reason: text, mayReturn } = flags;
  if ((flags.member === undefined) === (principal === undefined)) {
    throw new UsageError("Cannot end connections: give either --member or --principal");
  }
  const reason = text.trim();
  if (reason === "" || reason.length > MAX_REASON_LENGTH) {
    throw new UsageError(`Cannot end connections: the reason has 1 to ${MAX_REASON_LENGTH} characters`);
  }
  const ended = insight.end(principal === undefined ? { sid } : { principal }, {
    reason,
    mayReturn,
    actor: { ...actor },
  });
  if (ended > 0) return { value: { ended }, text: `Ended ${countOf(ended, "connection")}` };
  const who = principal === undefined ? `connection "${sid}"` : `connection of principal "${principal}"`;
  throw new CommandFailedError(`No ${who}`);
}

/** Tells the events of an office, until the signal is aborted. */
export async function followEvents(
  { server: { insight }, signal, conversation }: ServerCommandContext,
  office: string,
): Promise<CommandAnswer> {
  const tell = (event: SeenValue) => conversation.tell({ value: event, text: eventText(event) });
  using _watch = watchOffice(insight, office, tell);
  await untilAborted(signal);
  return { value: null, text: "" };
}

function eventText({ at, event, from, to, ms, bytes, answer_bytes, outcome, code, left_out }: SeenValue) {
  const way = to === null ? from : `${from} -> ${to}`;
  const sizes = `${bytesText(bytes)}${answer_bytes === null ? "" : ` / ${bytesText(answer_bytes)}`}`;
  const more = left_out === 0 ? "" : ` (${left_out} before it not shown)`;
  return `${at}  ${event}  ${way}  ${msText(ms)}  ${sizes}  ${outcome}${
    code === null ? "" : ` ${code}`
  }${more}`;
}

/** Has the events of an office told on the stream of the console, for a while. */
export function watchEvents({ watches }: OperatedServer, office: string): CommandAnswer {
  const until = watches.watch(office).toISOString();
  return { value: { office, until }, text: `The console tells the events of ${office} until ${until}` };
}

export function showAudit({ trail }: OperatedServer, count: number): CommandAnswer {
  const lines = count === 0 ? [] : trail.lines.slice(-count);
  return { value: lines.map(parseJson), text: lines.map(auditText).join("\n") || "no lines yet" };
}

function auditText(line: string): string {
  const fields = parseJson(line);
  if (!isRecord(fields)) return line;
  const { time, level: _, module: _module, message, ...rest } = fields;
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [time, message, ...facts].join("  ");
}

export async function showTokens({ tokens }: Pick<OperatedServer, "tokens">): Promise<CommandAnswer> {
  const shown = await tokens();
  const listed = shown.flatMap(({ tokens }) => tokens);
  const problems = shown.flatMap(({ problem }) => problem ?? []);
  const rows = listed.map(({ name, kind, offices, roles, computers, rights, expires, expired }) => [
    toSeenWord(name),
    kind,
    offices === null ? "all offices" : offices.map(toSeenWord).join(", "),
    roles?.join(", ") ?? rights ?? "",
    computers === null ? "" : `Computers ${computers.map(toSeenWord).join(", ")}`,
    expires === null ? "" : `${expired ? "expired" : "until"} ${expires}`,
  ]);
  return {
    value: listed,
    ...colored(({ strong }) => drawColumns(rows, { paints: [strong] }) || "no tokens"),
    failure: problems.length === 0
      ? undefined
      : `${problems.join("; ")}. The former tokens stay in use, and the next start fails`,
  };
}

export function drain({ drain }: OperatedServer): CommandAnswer {
  drain();
  return { value: { draining: true }, text: "The Server ends when its requests in flight have ended" };
}

function msText(ms: number | undefined): string {
  return ms === undefined ? "" : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
