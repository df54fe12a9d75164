/** Problems of a configuration and their places. A message never contains a value that may be a secret. */

/** The keys and indexes that lead to a value in a configuration. */
export type ConfigPath = readonly (string | number)[];

/** A problem, or a probable mistake, whose line is not known yet. */
export interface ConfigIssue {
  readonly path: ConfigPath;
  readonly message: string;
}

/** A problem, or a probable mistake, in a configuration. */
export interface ConfigProblem {
  /** What is wrong, and what to do about it. */
  readonly message: string;
  /** Its path, such as `servers.files.server_parameters.command`; empty for the whole configuration. */
  readonly path: string;
  /** The line in the text, from 1; absent when the configuration was a value. */
  readonly line?: number | undefined;
  /** The column in that line, from 1, in UTF-16 code units. */
  readonly column?: number | undefined;
}

/** The most problems in the message of an error; all of them are in its `problems`. */
const MAX_SHOWN_PROBLEMS = 20;

/** The configuration cannot be used. The message has a line for each problem, with its place and what to do. */
export class ConfigError extends Error {
  /** The name of the class. */
  override readonly name = "ConfigError";
  /** The code of this kind of error. */
  readonly code: "CONFIG" = "CONFIG";
  /** All problems, in the order of the text. */
  readonly problems: readonly ConfigProblem[];

  /** Makes an error with a list of problems, empty by default, and the error behind it. */
  constructor(
    message: string,
    options: { readonly problems?: readonly ConfigProblem[]; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = options.problems ?? [];
  }
}

/** The most findings of each kind that are kept: a broken file could have millions. */
export const MAX_FINDINGS = 1_000;

/** Collects findings while a configuration is read: of each kind the first {@linkcode MAX_FINDINGS}. */
export class Findings {
  readonly problems: ConfigIssue[];
  readonly failures: ConfigIssue[];
  readonly warnings: ConfigIssue[];
  readonly #move: (path: ConfigPath) => ConfigPath;

  /** @param moved Another collection, which takes all findings with changed paths. */
  constructor(moved?: { readonly to: Findings; readonly move: (path: ConfigPath) => ConfigPath }) {
    const { problems = [], failures = [], warnings = [] } = moved?.to ?? {};
    [this.problems, this.failures, this.warnings] = [problems, failures, warnings];
    this.#move = moved === undefined ? (path) => path : moved.move;
  }

  /** Adds a problem that makes the configuration unusable. */
  refuse(path: ConfigPath, message: string): void {
    this.#add(this.problems, { path, message });
  }

  /** Adds a problem that keeps one server from starting. */
  fail(path: ConfigPath, message: string): void {
    this.#add(this.failures, { path, message });
  }

  warn(path: ConfigPath, message: string): void {
    this.#add(this.warnings, { path, message });
  }

  #add(findings: ConfigIssue[], { path, message }: ConfigIssue): void {
    if (findings.length < MAX_FINDINGS) findings.push({ path: this.#move(path), message });
  }
}

/** The path of the value that is being read, and the collection for its problems. */
export interface ReadingPlace {
  readonly path: ConfigPath;
  readonly findings: Findings;
}

/** Makes one error of all problems of a configuration. */
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

/** A problem with its place, without the file. */
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
