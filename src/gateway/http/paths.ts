/** The paths of a gateway over HTTP. Pure. */
import { nameProblem } from "../../protocol/names.ts";
import type { Scope } from "../gateway_options.ts";

/** What a path leads to: a part of one office, or of all offices of the client where the path names none. */
export interface McpPlace {
  readonly office?: string | undefined;
  readonly scope: Scope;
}

const PATH = /^\/mcp(?:\/o\/(?<office>[^/]+))?(?:\/(?<search>search)|\/c\/(?<computer>[^/]+))?$/;

/** What a path leads to; `undefined` for another one, and for one with the name of no office. */
export function parsePath(pathname: string): McpPlace | undefined {
  const { groups } = PATH.exec(pathname) ?? {};
  if (groups === undefined) return undefined;
  const { office: rawOffice, search, computer: rawComputer } = groups;
  try {
    const office = rawOffice === undefined ? undefined : decodeURIComponent(rawOffice).normalize("NFKC");
    if (office !== undefined && nameProblem(office) !== undefined) return undefined;
    if (search !== undefined) return { office, scope: { kind: "search" } };
    if (rawComputer === undefined) return { office, scope: { kind: "all" } };
    return { office, scope: { kind: "computer", computer: decodeURIComponent(rawComputer) } };
  } catch {
    return undefined;
  }
}

/** Whether an office has a path: URLs read a segment `.` or `..` as a step, not as a name. */
export function hasPath(office: string): boolean {
  return office !== "." && office !== "..";
}

/** The path in its one spelling, which the audience of a token has: each name is one percent-encoded segment. */
export function buildPath({ office, scope }: McpPlace): string {
  const base = office === undefined ? "/mcp" : `/mcp/o/${encodeURIComponent(office)}`;
  if (scope.kind === "search") return `${base}/search`;
  return scope.kind === "computer" ? `${base}/c/${encodeURIComponent(scope.computer.toWellFormed())}` : base;
}
