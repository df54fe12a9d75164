/** Reads a whole configuration with all its problems. Pure: it does no I/O and throws nothing. */
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { refuseSharedHosts } from "./documents.ts";
import { type ConfigEntry, type ConfigForm, isOwnEntry, outlineConfig } from "./form.ts";
import { checkUse, readInput } from "./inputs.ts";
import { type ConfigIssue, type ConfigPath, type ConfigProblem, Findings, formatPath } from "./problem.ts";
import { readServer } from "./server.ts";
import { type ConfigSettings, readSettings } from "./settings.ts";
import { type ConfigFormat, readConfigText } from "./text.ts";
import type { ConfigOrigin } from "./foreign/variables.ts";

/** The most servers, and the most inputs, of a configuration: each server is a process or a connection. */
const MAX_ENTRIES = 1_000;

export interface Placed<T> {
  readonly path: ConfigPath;
  readonly value: T;
  /** Whether it is written in the specification's form, with `server_parameters`. */
  readonly isOwn?: boolean | undefined;
  /** The entry as it is written. */
  readonly written?: unknown;
}

/** A configuration, as far as it can be read. */
export interface ConfigReading {
  /** `undefined` when the value is not a configuration. */
  readonly form: ConfigForm | undefined;
  readonly servers: readonly Placed<MCPServerConfig>[];
  readonly inputs: readonly Placed<MCPServerInput>[];
  readonly settings: ConfigSettings;
  /** Problems that make the configuration unusable. */
  readonly problems: readonly ConfigProblem[];
  /** Problems that keep single servers from starting. */
  readonly failures: readonly ConfigProblem[];
  /** Probable mistakes that keep no server from starting. */
  readonly warnings: readonly ConfigProblem[];
  /** Adds the line and column to the finding of a later check. */
  locate(issue: ConfigIssue): ConfigProblem;
}

/** Options of {@linkcode parseConfig} and {@linkcode parseConfigText}. */
export interface ReadingOptions {
  /** The place of the file, for variables such as `${workspaceFolder}`; unknown by default. */
  readonly origin?: ConfigOrigin | undefined;
  /** The format of a text; guessed from the text by default. */
  readonly format?: ConfigFormat | undefined;
}

export function readText(text: string, options: ReadingOptions = {}): ConfigReading {
  const { value, syntax, duplicates, locate } = readConfigText(text, options);
  if (syntax.length > 0) {
    const nothing = { servers: [], inputs: [], settings: {}, failures: [], warnings: [] };
    return { form: undefined, ...nothing, problems: syntax, locate };
  }
  const reading = readValue(value, { ...options, locate });
  return { ...reading, problems: inOrder([...duplicates, ...reading.problems]) };
}

/** Reads a value. Problems have no lines, unless `locate` adds them. */
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
  refuseDuplicates(servers, { key: "name", nameOf: ({ name }) => name, findings });
  refuseDuplicates(inputs, { key: "id", nameOf: ({ id }) => id, findings });
  refuseSharedHosts(servers, findings);
  checkUse(entries, findings);
  const settings = outline === undefined ? {} : readSettings(outline.settings, { origin, findings });
  return {
    form: outline?.form,
    servers,
    inputs: [...inputs, ...[...commands.values()].map((value) => ({ path: [], value }))],
    settings,
    problems: inOrder(findings.problems.map(locate)),
    failures: inOrder(findings.failures.map(locate)),
    warnings: inOrder(findings.warnings.map(locate)),
    locate,
  };
}

/** The placeholder of a `command` input for a shell command; equal commands share one input. */
function placeholderOf(line: string, commands: Map<string, MCPServerInput>): string {
  const id = commands.get(line)?.id ?? `command-${commands.size + 1}`;
  commands.set(line, { id, type: "command", description: "", command: line, args: null });
  return `\${input:${id}}`;
}

function withinBounds(entries: readonly ConfigEntry[], findings: Findings): readonly ConfigEntry[] {
  const excess = entries[MAX_ENTRIES];
  if (excess === undefined) return entries;
  const message = `too many entries: ${entries.length}, the limit is ${MAX_ENTRIES}; remove some`;
  findings.refuse(excess.path, message);
  return entries.slice(0, MAX_ENTRIES);
}

function readAll<T>(
  entries: readonly ConfigEntry[],
  read: (entry: ConfigEntry) => T | undefined,
): Placed<T>[] {
  return entries.flatMap((entry) => {
    const value = read(entry);
    return value === undefined
      ? []
      : [{ path: entry.path, value, isOwn: isOwnEntry(entry.value), written: entry.value }];
  });
}

function refuseDuplicates<T>(
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
      findings.refuse([...path, key], `duplicate ${key} "${name}"; change one of them`);
    }
    names.add(name);
  }
}

/** Sorts by line and column; problems without a line come first. */
function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
