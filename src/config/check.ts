/** Checks a configuration file without starting anything: its content, its problems and what they prevent. */
import { DEFAULT_PROTOCOL, isFrom, type ProtocolMinor } from "../protocol/version.ts";
import {
  isServiceGrant,
  type MCPServerConfig,
  type MCPServerInput,
  oauthOf,
  sandboxOf,
} from "../protocol/config.ts";
import { identifyServers } from "./bundle_id.ts";
import { DOCUMENTS_TYPE, documentsEntry, foldersOf } from "./documents.ts";
import { originOf, readConfigFileText } from "./file.ts";
import type { ConfigForm } from "./form.ts";
import { ConfigError, type ConfigIssue, type ConfigProblem } from "./problem.ts";
import { type ConfigReading, readText } from "./reading.ts";
import {
  filledMembers,
  findPlaceholders,
  inputIdsOf,
  inputVariable,
  type Placeholder,
} from "./placeholders.ts";
import type { ConfigOrigin } from "./foreign/variables.ts";
import { sandboxText } from "../mcp/stdio/sandbox.ts";
import { shorten } from "../text/text.ts";
import { checkStart, folderProblem, newFolderProblem, skillProblem } from "./start_check.ts";
import { formatOfFile } from "./text.ts";

export interface CheckedServer {
  readonly name: string;
  readonly type: MCPServerConfig["type"] | typeof DOCUMENTS_TYPE;
  readonly disabled: boolean;
  /** Whether its user has to sign in before it can start; `null` when that was not checked. */
  readonly needsSignIn: boolean | null;
  /** What it can reach in its sandbox, in words; absent when nothing limits it. */
  readonly sandbox?: string;
}

export interface CheckedInput {
  readonly id: string;
  /** How its value is obtained: by a prompt, a choice or a command. */
  readonly type: MCPServerInput["type"];
  /** Whether it has a default or a command, so that the user need not be asked for its value. */
  readonly hasValue: boolean;
  /** Whether the environment or the file of inputs has a value for it; `null` when neither was checked. */
  readonly isSet: boolean | null;
  readonly usedBy: readonly string[];
}

export interface CheckedVariable {
  readonly name: string;
  /** Whether every placeholder of it has a default. */
  readonly hasDefault: boolean;
  /** Whether it is set; `null` when the environment was not checked. */
  readonly isSet: boolean | null;
  readonly usedBy: readonly string[];
}

/** The most characters of a name that a report shows of one that an MCP server chose. */
const MAX_TOOL_NAME_LENGTH = 128;

/** The content of a configuration file, as far as it can be read, and all problems with it. */
export interface ConfigReport {
  /** The path or the name of the file, as it was given. */
  readonly file: string;
  /** The form of the file; `null` when it is not a configuration. */
  readonly form: ConfigForm | null;
  /** The servers that can be read, in order of precedence. */
  readonly servers: readonly CheckedServer[];
  readonly inputs: readonly CheckedInput[];
  /** The environment variables that are read when the servers start. */
  readonly variables: readonly CheckedVariable[];
  /** Probable mistakes that keep no server from starting. */
  readonly warnings: readonly ConfigProblem[];
  /** Problems that keep single servers from starting. */
  readonly failures: readonly ConfigProblem[];
  /** Problems that make the configuration unusable. */
  readonly problems: readonly ConfigProblem[];
}

/** Optional checks of a configuration; by default none of them is made. */
export interface ConfigChecks {
  /** Compiles a VRL script; resolves to the error message, or to `undefined` for a valid script. */
  readonly vrl?: ((script: string) => Promise<string | undefined>) | undefined;
  /** The protocol version of the command line; by default that of the configuration counts. */
  readonly protocol?: ProtocolMinor | undefined;
  /** Whether to look for the programs, folders and files that servers need. */
  readonly programs?: boolean | undefined;
  readonly environment?: ((name: string) => string | undefined) | undefined;
  /** The ids of the inputs that a file of inputs gives a value. */
  readonly givenInputs?: ReadonlySet<string> | undefined;
  /** Returns whether the user has signed in at the server of this name. */
  readonly isSignedIn?: ((server: string) => Promise<boolean>) | undefined;
  /** Returns which tools of the server of this name had changed when they were seen last, and what was different. */
  readonly changedTools?: ((server: string) => Promise<ReadonlyMap<string, string>>) | undefined;
}

/** A file that cannot be read is a report with a problem. */
export async function checkConfigFile(path: string, checks: ConfigChecks = {}): Promise<ConfigReport> {
  return await checkConfigSource(() => readConfigFileText(path), { file: path, checks });
}

/** Like {@linkcode checkConfigFile}, for a text from another source. A {@linkcode ConfigError} of `read` becomes a problem. */
export async function checkConfigSource(
  read: () => Promise<string>,
  { file, checks = {} }: { readonly file: string; readonly checks?: ConfigChecks },
): Promise<ConfigReport> {
  let text: string;
  try {
    text = await read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    return {
      file,
      form: null,
      servers: [],
      inputs: [],
      variables: [],
      warnings: [],
      failures: [],
      problems,
    };
  }
  return await checkConfigText(text, { file, checks });
}

/** Like {@linkcode checkConfigFile}, for a text. */
export async function checkConfigText(
  text: string,
  { file, checks = {} }: { readonly file: string; readonly checks?: ConfigChecks },
): Promise<ConfigReport> {
  const reading = readText(text, { origin: originOf(file), format: formatOfFile(file) });
  const found = await checkScripts(reading, checks);
  const starts = checks.programs === true
    ? [...startFindings(reading), ...folderFindings(reading, originOf(file))]
    : [];
  const { form = null, servers } = reading;
  return {
    file,
    form,
    servers: await Promise.all(servers.map((server) => checkedServer(server, checks))),
    inputs: inputsOf(reading, checks),
    variables: variablesOf(reading, checks),
    warnings: [
      ...reading.warnings,
      ...versionFindings(reading, checks.protocol).map(reading.locate),
      ...(checks.programs === true ? settingFindings(reading).map(reading.locate) : []),
      ...(await changeFindings(reading, checks)).map(reading.locate),
    ],
    failures: [...reading.failures, ...starts.map(reading.locate)],
    problems: [...reading.problems, ...found.map(reading.locate)],
  };
}

async function checkedServer(
  { value, written }: ConfigReading["servers"][number],
  { isSignedIn }: ConfigChecks,
): Promise<CheckedServer> {
  const { name, disabled } = value;
  const limits = sandboxOf(value);
  const sandbox = limits === undefined ? {} : { sandbox: sandboxText(limits) };
  const type = documentsEntry.safeParse(written).success ? DOCUMENTS_TYPE : value.type;
  const oauth = oauthOf(value);
  const isPersonal = oauth === true || (typeof oauth === "object" && !isServiceGrant(oauth));
  const needsSignIn = isPersonal && (isSignedIn === undefined ? null : !await isSignedIn(name));
  return { name, type, disabled, needsSignIn, ...sandbox };
}

/** Tools that are set aside, or asked about, since they are not what their owner has allowed. */
async function changeFindings(
  { servers }: ConfigReading,
  { changedTools }: ConfigChecks,
): Promise<ConfigIssue[]> {
  if (changedTools === undefined) return [];
  const issues: ConfigIssue[] = [];
  for (const { path, value: { name, on_change: onChange } } of servers) {
    if (onChange !== "ask" && onChange !== "block") continue;
    const remedy = onChange === "ask"
      ? 'each call is asked about until one is answered "always"'
      : 'it is set aside until "tool allow" is run, or the entry is edited';
    for (const [tool, changed] of await changedTools(name)) {
      const message = `the tool "${
        shorten(tool, MAX_TOOL_NAME_LENGTH)
      }" has changed since it was allowed (${changed}): ${remedy}`;
      issues.push({ path: [...path, "on_change"], message });
    }
  }
  return issues;
}

async function checkScripts({ servers }: ConfigReading, { vrl }: ConfigChecks): Promise<ConfigIssue[]> {
  if (vrl === undefined) return [];
  const issues: ConfigIssue[] = [];
  for (const { path, value } of servers) {
    const problem = typeof value.vrl === "string" ? await vrl(value.vrl) : undefined;
    if (problem !== undefined) issues.push({ path: [...path, "vrl"], message: problem });
  }
  return issues;
}

function startFindings({ servers }: ConfigReading): ConfigIssue[] {
  return servers.flatMap(({ path, value, isOwn }) =>
    checkStart(value).map(({ member, message }) => {
      const written = member === "sandbox"
        ? [member]
        : isOwn === true
        ? ["server_parameters", member]
        : [member === "env_file" ? "envFile" : member];
      return { message, path: [...path, ...written] };
    })
  );
}

/** The folders of documents that are missing, or are none. */
function folderFindings({ servers }: ConfigReading, origin: ConfigOrigin | undefined): ConfigIssue[] {
  return servers.flatMap(({ path, value, written }) => {
    const entry = documentsEntry.safeParse(written);
    if (value.disabled || !entry.success) return [];
    return foldersOf(entry.data, origin).flatMap((folder, index) => {
      const message = folderProblem(folder);
      return message === undefined ? [] : [{ path: [...path, "folders", index], message }];
    });
  });
}

/** Folders of skills and of uploads that cannot be used keep no server from starting. */
function settingFindings({ settings: { skills = [], uploads } }: ConfigReading): ConfigIssue[] {
  const findings: ConfigIssue[] = [];
  for (const [index, folder] of skills.entries()) {
    const message = skillProblem(folder);
    if (message !== undefined) findings.push({ path: ["skills", index], message });
  }
  const message = uploads === undefined ? undefined : newFolderProblem(uploads);
  if (message !== undefined) findings.push({ path: ["uploads"], message });
  return findings;
}

function isSet(name: string, { environment }: ConfigChecks): boolean | null {
  return environment === undefined ? null : environment(name) !== undefined;
}

function inputsOf({ servers, inputs }: ConfigReading, checks: ConfigChecks): CheckedInput[] {
  const users = servers.map(({ value }) => ({ name: value.name, ids: inputIdsOf(filledMembers(value)) }));
  return inputs.map(({ value: input }) => ({
    id: input.id,
    type: input.type,
    hasValue: input.type === "command" || typeof input.default === "string",
    isSet: checks.givenInputs?.has(input.id) === true || isSet(inputVariable(input.id), checks),
    usedBy: users.filter(({ ids }) => ids.has(input.id)).map(({ name }) => name),
  }));
}

function variablesOf({ servers }: ConfigReading, checks: ConfigChecks): CheckedVariable[] {
  const variables = new Map<string, { hasDefault: boolean; readonly usedBy: Set<string> }>();
  for (const { value } of servers) {
    for (const placeholder of placeholdersOf(value)) {
      if (placeholder.kind !== "env") continue;
      const variable = variables.get(placeholder.name) ?? { hasDefault: true, usedBy: new Set() };
      variable.hasDefault &&= placeholder.fallback !== undefined;
      variable.usedBy.add(value.name);
      variables.set(placeholder.name, variable);
    }
  }
  return [...variables].map(([name, { hasDefault, usedBy }]) => ({
    name,
    hasDefault,
    isSet: isSet(name, checks),
    usedBy: [...usedBy],
  }));
}

function placeholdersOf(config: MCPServerConfig): Placeholder[] {
  return findPlaceholders(filledMembers(config)).map(({ placeholder }) => placeholder);
}

/** What the protocol version means: members without effect, and servers that it leaves out; `chosen` is the version of the command line, which overrides that of the configuration. */
export function versionFindings(
  { servers, settings }: Pick<ConfigReading, "servers" | "settings">,
  chosen: ProtocolMinor | undefined,
): ConfigIssue[] {
  const protocol = chosen ?? settings.protocolVersion ?? DEFAULT_PROTOCOL;
  const findings: ConfigIssue[] = [];
  if (settings.uploads !== undefined && !isFrom(protocol, "0.4")) {
    findings.push({ path: ["uploads"], message: withoutEffect(protocol, "0.4") });
  }
  if (!isFrom(protocol, "0.3")) {
    for (const { path, value } of servers) {
      if (typeof value.bundle_id !== "string") continue;
      findings.push({ path: [...path, "bundle_id"], message: withoutEffect(protocol, "0.3") });
    }
    return findings;
  }
  const { leftOut } = identifyServers(servers.map(({ value }) => value));
  for (const { server, reason } of leftOut) {
    const path = servers.find(({ value }) => value === server)?.path ?? [];
    findings.push({ path, message: reason });
  }
  return findings;
}

function withoutEffect(protocol: ProtocolMinor, first: ProtocolMinor): string {
  return `has no effect at protocol ${protocol}; write "protocol_version": "${first}" or a later one`;
}
