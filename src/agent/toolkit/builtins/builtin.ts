/** What the tools of gateway and toolkit themselves have in common. */
import { settledWithin } from "../../../async/abortable.ts";
import { Limiter } from "../../../async/limiter.ts";
import { escapeUnreadable, toSeenLine, toSeenName, toSeenWord } from "../../../text/safe_text.ts";
import type { RemoteComputer } from "../../remote_computer.ts";
import { mapTexts, toContent } from "../list_entries.ts";
import type { LocalTool, ToolContext } from "../tool_context.ts";
import { explainRead, withAdvice } from "../tool_result.ts";
import type { Json } from "../../../local_tools/mcp.ts";
import { type LocalToolParts, makeLocalTool } from "../../../local_tools/local_tool.ts";
import type { OfficeView } from "../office_view.ts";
import { ArgumentError } from "../../../local_tools/arguments.ts";

/** The most Computers that are asked at the same time. */
export const MAX_CONCURRENT_COMPUTERS = 16;
/** How long a call waits for one of several Computers, in milliseconds. */
const PATIENCE_MS = 15_000;

export interface Reach {
  readonly view: OfficeView;
  /** The only Computer; all by default. */
  readonly only?: string | undefined;
  /** The client that asks; nobody but the Agent itself by default. */
  readonly client?: string | undefined;
  /** The Computers that exist for the client; all by default. */
  readonly visible?: readonly string[] | undefined;
}

/** Makes a tool that shows what Computers have, and modifies nothing. */
export function makeBuiltin({ run, ...parts }: Omit<LocalToolParts<ToolContext>, "annotations">): LocalTool {
  return makeLocalTool({
    ...parts,
    annotations: { readOnlyHint: true, openWorldHint: true },
    async run(args, context) {
      const attempt = async () => await run(args, context);
      const result = await attempt().catch((error: unknown) => {
        context.signal.throwIfAborted();
        if (error instanceof ArgumentError) throw error;
        throw new ArgumentError(`Cannot complete "${parts.name}": ${explainRead(error)}`);
      });
      return mapTexts({ ...result, content: result.content.map(toContent) }, escapeUnreadable);
    },
  });
}

export const COMPUTER_PROPERTY: Json = {
  type: "string",
  description: "The name of a Computer, as list_computers tells it. May be left out.",
};

export function reachedComputers(reach: Reach): string[] {
  return reach.view.computers.map(({ name }) => name).filter((name) => reaches(reach, name));
}

/** Whether a Computer of this name exists for the client. */
export function reaches({ view: { wanted }, only, visible }: Reach, name: string): boolean {
  return (only === undefined || name === only) &&
    [visible, wanted].every((names) => names?.includes(name) ?? true);
}

export function askableComputers(reach: Reach): RemoteComputer[] {
  const { view } = reach;
  const { office } = view;
  if (office === undefined) return [];
  const names = reachedComputers(reach).filter((name) => view.isReachable(name));
  return names.map((name) => office.computer(name, { client: reach.client }));
}

/**
 * The Computers that a call is about: the one that is named, or all that can be asked.
 *
 * @throws {ArgumentError} the office or the Computer cannot be reached, or nobody has this name.
 */
export function chosenComputers(reach: Reach, named: string | undefined): RemoteComputer[] {
  const { office, problem } = reach.view;
  const names = reachedComputers(reach);
  if (office === undefined || problem !== undefined) {
    throw new ArgumentError(`Cannot reach the office: ${withAdvice(String(problem))}`);
  }
  const askable = askableComputers(reach);
  if (names.length === 0 || (named === undefined && askable.length === 0)) {
    throw new ArgumentError(`${nobodyThere(reach)}. Try again later, or tell the user`);
  }
  if (named === undefined) return askable;
  if (!names.includes(named)) {
    throw new ArgumentError(
      `No Computer named ${toSeenName(named)}. Computers: ${names.map(toSeenWord).join(", ")}`,
    );
  }
  const why = reach.view.problemOf(named);
  if (why !== undefined) {
    throw new ArgumentError(`Cannot reach Computer ${toSeenName(named)}: ${withAdvice(why)}`);
  }
  return [office.computer(named, { client: reach.client })];
}

/** Who is missing, when no Computer is reached. */
export function nobodyThere({ view: { office, wanted }, only, visible }: Reach): string {
  const missing = only === undefined ? visible ?? wanted : [only];
  if (missing !== undefined) return `Not in the office now: Computer ${quoted(missing)}`;
  const names = office?.offices?.map((each) => each.office) ?? [office?.office ?? ""];
  const named = names.filter((name) => name !== "");
  return `No Computer is in the office now${named.length === 0 ? "" : ` (${quoted(named)})`}`;
}

/** A resource, and its Computer where the URI names it. */
export interface ClientUri {
  readonly uri: string;
  readonly computer?: string;
}

/** Reads a URI under which a client of the gateway knows a window or a document: it may be `a2c://{computer}/{uri}`. */
export function readClientUri(named: string): ClientUri {
  const [, computer, uri] = /^a2c:\/\/([^/]+)\/((?:dpe|window):.*)$/si.exec(named) ?? [];
  if (computer === undefined || uri === undefined) return { uri: named };
  try {
    return { uri, computer: decodeURIComponent(computer) };
  } catch {
    throw new ArgumentError(`Cannot read ${toSeenLine(named)}: not a URI`);
  }
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => toSeenName(name)).join(", ");
}

export type Answered<Value> =
  | { readonly computer: string; readonly value: Value }
  | { readonly computer: string; readonly problem: string };

/**
 * Asks Computers at the same time, sixteen at most. One that fails is told and costs nothing else, and so is one that does
 * not answer soon.
 *
 * @param options `patienceMs`: how long to wait for each; by default 15,000 for one of several, while a single one has the
 *   whole time of its request.
 */
export async function askEach<Value>(
  computers: readonly RemoteComputer[],
  ask: (computer: RemoteComputer) => Promise<Value>,
  { patienceMs = computers.length === 1 ? undefined : PATIENCE_MS }: {
    readonly patienceMs?: number | undefined;
  } = {},
): Promise<Answered<Value>[]> {
  const limiter = new Limiter(MAX_CONCURRENT_COMPUTERS);
  return await Promise.all(computers.map(async (computer): Promise<Answered<Value>> => {
    const { name } = computer;
    const answer = async () => ({ computer: name, value: await ask(computer) });
    try {
      if (patienceMs === undefined) return await limiter.run(answer);
      return await limiter.run(() => settledWithin(answer(), patienceMs)) ??
        { computer: name, problem: lateness(patienceMs) };
    } catch (error) {
      return { computer: name, problem: explainRead(error) };
    }
  }));
}

function lateness(patienceMs: number): string {
  return `no answer within ${patienceMs / 1000} s; name it with "computer" to wait longer for it alone`;
}

/** Why Computers have not answered, for the beginning of an answer, which would else look as if they had nothing. */
export function problemLines(
  answers: readonly Answered<unknown>[],
  what: "searched" | "shown" = "searched",
): string[] {
  return answers.flatMap((answer) => {
    if (!("problem" in answer)) return [];
    const { computer, problem } = answer;
    const who = problem.includes(`'${computer}'`) ? "" : `Computer ${toSeenName(computer)}: `;
    return [`Not ${what}: ${who}${problem}`];
  });
}
