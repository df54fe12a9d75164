/** All that a configuration says, and all that is wrong with it. Pure: a value in, findings out; nothing is thrown. */
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { type ConfigEntry, type ConfigForm, isOwnEntry, outlineConfig } from "./form.ts";
import { checkUse, readInput } from "./inputs.ts";
import { type ConfigIssue, type ConfigPath, type ConfigProblem, Findings, formatPath } from "./problem.ts";
import { readServer } from "./server.ts";
import { type ConfigFormat, readConfigText } from "./text.ts";
import type { ConfigOrigin } from "./foreign/variables.ts";

/** The most servers of a configuration, and the most inputs: each server is a process or a connection. */
const MAX_ENTRIES = 1_000;

/** Something that was read, and where it stands. */
export interface Placed<T> {
  readonly path: ConfigPath;
  readonly value: T;
  /** Whether it is written in the specification's form, with `server_parameters`. */
  readonly isOwn?: boolean | undefined;
}

/** What a configuration says, as far as it can be read. */
export interface ConfigReading {
  /** `undefined` when it is no configuration at all. */
  readonly form: ConfigForm | undefined;
  readonly servers: readonly Placed<MCPServerConfig>[];
  readonly inputs: readonly Placed<MCPServerInput>[];
  /** With any of these it cannot be used. */
  readonly problems: readonly ConfigProblem[];
  /** With any of these a server cannot start; the others can. */
  readonly failures: readonly ConfigProblem[];
  /** What is likely a mistake and changes nothing. */
  readonly warnings: readonly ConfigProblem[];
  /** Finds the place of what a later check has found. */
  locate(issue: ConfigIssue): ConfigProblem;
}

/** How to read a configuration. */
export interface ReadingOptions {
  /** Where it comes from, for the variables of other programs' files. */
  readonly origin?: ConfigOrigin | undefined;
  /** What a text is written in; told by how it begins by default. */
  readonly format?: ConfigFormat | undefined;
}

/** Reads the text of a file. */
export function readText(text: string, options: ReadingOptions = {}): ConfigReading {
  const { value, syntax, duplicates, locate } = readConfigText(text, options);
  if (syntax.length > 0) {
    return { form: undefined, servers: [], inputs: [], problems: syntax, failures: [], warnings: [], locate };
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
  const outline = outlineConfig(value, findings, origin);
  const commands = new Map<string, MCPServerInput>();
  const addCommand = (line: string) => placeholderOf(line, commands);
  const context = { form: outline?.form ?? "smcp", origin, findings, addCommand };
  const entries = {
    servers: withinBounds(outline?.servers ?? [], findings),
    inputs: withinBounds(outline?.inputs ?? [], findings),
  };
  const servers = readAll(entries.servers, (entry) => readServer(entry, context));
  const inputs = readAll(entries.inputs, (entry) => readInput(entry, context));
  refuseTwins(servers, { key: "name", nameOf: ({ name }) => name, findings });
  refuseTwins(inputs, { key: "id", nameOf: ({ id }) => id, findings });
  checkUse(entries, findings);
  return {
    form: outline?.form,
    servers,
    inputs: [...inputs, ...[...commands.values()].map((value) => ({ path: [], value }))],
    problems: inOrder(findings.problems.map(locate)),
    failures: inOrder(findings.failures.map(locate)),
    warnings: inOrder(findings.warnings.map(locate)),
    locate,
  };
}

/** The placeholder of an input that runs a shell line; the same line is one input. */
function placeholderOf(line: string, commands: Map<string, MCPServerInput>): string {
  const id = commands.get(line)?.id ?? `command-${commands.size + 1}`;
  commands.set(line, { id, type: "command", description: "", command: line, args: null });
  return `\${input:${id}}`;
}

function withinBounds(entries: readonly ConfigEntry[], findings: Findings): readonly ConfigEntry[] {
  const excess = entries[MAX_ENTRIES];
  if (excess === undefined) return entries;
  const message = `is one of ${entries.length}, and ${MAX_ENTRIES} may stand here; leave out the others`;
  findings.refuse(excess.path, message);
  return entries.slice(0, MAX_ENTRIES);
}

function readAll<T>(
  entries: readonly ConfigEntry[],
  read: (entry: ConfigEntry) => T | undefined,
): Placed<T>[] {
  return entries.flatMap((entry) => {
    const value = read(entry);
    return value === undefined ? [] : [{ path: entry.path, value, isOwn: isOwnEntry(entry.value) }];
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
