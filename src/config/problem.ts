/** What is wrong or doubtful in a configuration, and where. Values that may be secrets never stand in such a text. */

/** Where something stands in a configuration: the keys and positions that lead to it. */
export type ConfigPath = readonly (string | number)[];

/** What was found at a path, before it is known which line that is. */
export interface ConfigIssue {
  readonly path: ConfigPath;
  readonly message: string;
}

/** What is wrong or doubtful in a configuration. */
export interface ConfigProblem {
  /** What it is, and the fix where there is one. */
  readonly message: string;
  /** Where it stands, such as `servers.files.server_parameters.command`; empty for the whole. */
  readonly path: string;
  /** The line in the text, from 1, where there is a text. */
  readonly line?: number | undefined;
  /** The column in that line, from 1. */
  readonly column?: number | undefined;
}

/** So many problems stand in an error's message; all are in its `problems`. */
const MAX_SHOWN_PROBLEMS = 20;

/** A configuration that cannot be used; the message says where and how to mend it, a line for each problem. */
export class ConfigError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ConfigError";
  /** Tells the kind of an error. */
  readonly code = "CONFIG";
  /** All that was found, in the order of the text. */
  readonly problems: readonly ConfigProblem[];

  /** `problems`: all that was found; `cause` where there is one. */
  constructor(
    message: string,
    options: { readonly problems?: readonly ConfigProblem[]; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = options.problems ?? [];
  }
}

/** So many findings of a kind are kept: nobody mends more of them in one go, and a broken file could have millions. */
export const MAX_FINDINGS = 1_000;

/** What was found while a configuration was read; of each kind the first {@linkcode MAX_FINDINGS}. */
export class Findings {
  readonly problems: ConfigIssue[] = [];
  /** With these a server cannot start; everything else works. */
  readonly failures: ConfigIssue[] = [];
  readonly warnings: ConfigIssue[] = [];

  /** With this the configuration cannot be used. */
  refuse(path: ConfigPath, message: string): void {
    addFinding(this.problems, { path, message });
  }

  /** With this a server cannot start. */
  fail(path: ConfigPath, message: string): void {
    addFinding(this.failures, { path, message });
  }

  /** This is likely a mistake. */
  warn(path: ConfigPath, message: string): void {
    addFinding(this.warnings, { path, message });
  }
}

function addFinding(findings: ConfigIssue[], issue: ConfigIssue): void {
  if (findings.length < MAX_FINDINGS) findings.push(issue);
}

/** Findings that go on to others, under other paths. */
export class MovedFindings extends Findings {
  readonly #to: Findings;
  readonly #move: (path: ConfigPath) => ConfigPath;

  constructor(to: Findings, move: (path: ConfigPath) => ConfigPath) {
    super();
    this.#to = to;
    this.#move = move;
  }

  override refuse(path: ConfigPath, message: string): void {
    this.#to.refuse(this.#move(path), message);
  }

  override fail(path: ConfigPath, message: string): void {
    this.#to.fail(this.#move(path), message);
  }

  override warn(path: ConfigPath, message: string): void {
    this.#to.warn(this.#move(path), message);
  }
}

/** Where something stands that is being read, and where to tell what is wrong with it. */
export interface ReadingPlace {
  readonly path: ConfigPath;
  readonly findings: Findings;
}

/** The error for all that is wrong with one configuration. */
export function problemsError(
  source: string,
  problems: readonly ConfigProblem[],
  { cause }: { readonly cause?: unknown } = {},
): ConfigError {
  const shown = problems.slice(0, MAX_SHOWN_PROBLEMS).map((problem) => {
    const place = placeOf(problem);
    return `Cannot read config "${source}"${place === "" ? "" : ` at ${place}`}: ${problem.message}`;
  });
  const more = problems.length - shown.length;
  const lines = more > 0 ? [...shown, `… and ${more} more`] : shown;
  return new ConfigError(lines.join("\n"), { problems, cause });
}

/** A problem on one line, without the name of its file. */
export function describeProblem(problem: ConfigProblem): string {
  const place = placeOf(problem);
  return place === "" ? problem.message : `${place}: ${problem.message}`;
}

/** `line 12, servers.files.type` */
function placeOf({ path, line }: ConfigProblem): string {
  return [line === undefined ? "" : `line ${line}`, path].filter((part) => part !== "").join(", ");
}

/** `servers.files`, `servers[0].name`, `servers["my files"].type` */
export function formatPath(path: ConfigPath): string {
  return path.map((key, index) => {
    if (typeof key === "number") return `[${key}]`;
    if (!/^[\p{L}\p{N}_$-]+$/u.test(key)) return `[${JSON.stringify(key)}]`;
    return index === 0 ? key : `.${key}`;
  }).join("");
}
