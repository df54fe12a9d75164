/** All that a configuration says, and all that is wrong with it. Pure: a value in, findings out; nothing is thrown. */
import type { MCPServerConfig, MCPServerInput } from "../../protocol/config.ts";
import { type ConfigEntry, type ConfigForm, outlineConfig } from "./form.ts";
import { checkUse, readInput } from "./inputs.ts";
import { type ConfigIssue, type ConfigPath, type ConfigProblem, Findings, formatPath } from "./problem.ts";
import { readServer } from "./server.ts";
import { readConfigText } from "./text.ts";
import type { ConfigOrigin } from "./variables.ts";

/** Something that was read, and where it stands. */
export interface Placed<T> {
  readonly path: ConfigPath;
  readonly value: T;
}

/** What a configuration says, as far as it can be read. */
export interface ConfigReading {
  /** `undefined` when it is no configuration at all. */
  readonly form: ConfigForm | undefined;
  readonly servers: readonly Placed<MCPServerConfig>[];
  readonly inputs: readonly Placed<MCPServerInput>[];
  /** With any of these it cannot be used. */
  readonly problems: readonly ConfigProblem[];
  /** What is likely a mistake and changes nothing. */
  readonly warnings: readonly ConfigProblem[];
  /** Finds the place of what a later check has found. */
  locate(issue: ConfigIssue): ConfigProblem;
}

/** How to read a configuration. */
export interface ReadingOptions {
  /** Where it comes from, for the variables of other programs' files. */
  readonly origin?: ConfigOrigin | undefined;
}

/** Reads the text of a file. */
export function readText(text: string, options: ReadingOptions = {}): ConfigReading {
  const { value, syntax, duplicates, locate } = readConfigText(text);
  if (syntax.length > 0) {
    return { form: undefined, servers: [], inputs: [], problems: syntax, warnings: [], locate };
  }
  const reading = readValue(value, { ...options, locate });
  return { ...reading, problems: inOrder([...duplicates, ...reading.problems]) };
}

/** Reads a value, which has no lines. */
export function readValue(
  value: unknown,
  options: ReadingOptions & { readonly locate?: (issue: ConfigIssue) => ConfigProblem } = {},
): ConfigReading {
  const { origin, locate = ({ path, message }) => ({ message, path: formatPath(path) }) } = options;
  const findings = new Findings();
  const outline = outlineConfig(value, findings);
  const context = { form: outline?.form ?? "smcp", origin, findings };
  const servers = readAll(outline?.servers ?? [], (entry) => readServer(entry, context));
  const inputs = readAll(outline?.inputs ?? [], (entry) => readInput(entry, context));
  refuseTwins(servers, { key: "name", nameOf: ({ name }) => name, findings });
  refuseTwins(inputs, { key: "id", nameOf: ({ id }) => id, findings });
  if (outline !== undefined) checkUse(outline, findings);
  return {
    form: outline?.form,
    servers,
    inputs,
    problems: inOrder(findings.problems.map(locate)),
    warnings: inOrder(findings.warnings.map(locate)),
    locate,
  };
}

function readAll<T>(
  entries: readonly ConfigEntry[],
  read: (entry: ConfigEntry) => T | undefined,
): Placed<T>[] {
  return entries.flatMap((entry) => {
    const value = read(entry);
    return value === undefined ? [] : [{ path: entry.path, value }];
  });
}

function refuseTwins<T>(
  read: readonly Placed<T>[],
  { key, nameOf, findings }: {
    readonly key: string;
    readonly nameOf: (value: T) => string;
    readonly findings: Findings;
  },
): void {
  const names = new Set<string>();
  for (const { path, value } of read) {
    const name = nameOf(value);
    if (names.has(name)) {
      findings.refuse([...path, key], `the ${key} "${name}" stands twice; change one of them`);
    }
    names.add(name);
  }
}

/** By line; what has none keeps its place. */
function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
