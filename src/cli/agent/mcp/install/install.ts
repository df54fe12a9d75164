/** `mcp install`, `mcp uninstall` and `--print-config`: the gateway's entry in the file of an MCP client. */
import { basename, dirname, resolve } from "@std/path";
import { readConfigText } from "../../../../config/text.ts";
import { hasMember, removeMemberText, setMemberText } from "../../../../config/edit.ts";
import { ConfigError } from "../../../../config/problem.ts";
import { removeTomlTable, setTomlMembers, type TomlMembers } from "../../../../config/toml_edit.ts";
import { folderProblem } from "../../../../config/start_check.ts";
import { readRegularFile, replaceFile } from "../../../../files/files.ts";
import { isRecord, isTexts, lineOfFault } from "../../../../json/json.ts";
import { isSecureUrl, kindOfHost } from "../../../../reach/addresses.ts";
import { LazyEditor } from "../../../../terminal/editor/lazy_editor.ts";
import { ask } from "../../../../terminal/editor/line_editor.ts";
import { readCa, readTokenFile } from "../../../credentials.ts";
import { refuseCachedProgram } from "../../../other_program.ts";
import { UsageError } from "../../../outcome.ts";
import { existingStateFiles } from "../../../../files/state_folder.ts";
import { type ClientName, clientOf, installLink, type LinkClient, type McpClient } from "./clients.ts";
import {
  type ClientEntry,
  documentsEntry,
  type EntryConnection,
  type EntryFiles,
  entryUrl,
  type McpOptions,
  planEntry,
  writeEntryFiles,
} from "./entry.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const SHARED_SEAT =
  "Its windows, other clients with the same entry, and a2c-smcp agent share the office's one seat.";
const BEFORE = "The file as it was before the first change";
/** The end of the name of the copy that the first change leaves, empty where there was no file; later changes keep it. */
const BACKUP = ".before-a2c";

export interface ChangeOptions {
  readonly as: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly file?: string | undefined;
}

/** What an entry leads to: an MCP server at a URL, or the documents of folders or the gateway, which the client starts. */
export type EntryPlace =
  | { readonly url: string; readonly caFile?: string | undefined }
  | { readonly documents: readonly string[] }
  | { readonly connection: EntryConnection; readonly gateway: McpOptions };

export async function installInto(
  name: ClientName,
  place: EntryPlace,
  options: ChangeOptions,
): Promise<void> {
  const client = locate(name, options);
  await requireFiles(place);
  const { entry, files } = plan(place, options.as);
  if ("url" in entry) requireReachable(client, entry.url);
  const before = await readClientFile(client);
  const environment = environmentOf(client, place);
  const after = withEntry(before, client, { name: options.as, entry, environment });
  // Nothing else of the file is shown, which may hold secrets of other programs, in an entry of this name as well.
  const members = membersOf(client, entry);
  const old = entryIn(before, client, options.as);
  const added = { ...members, env: environment };
  const kept = isOfAnotherUrl(old, members) ? "" : " (what you have added to it stays)";
  const shown = [
    ...Object.keys(old).length > 0 ? [`${removedLine(options.as)}${kept}`] : [],
    JSON.stringify({ [options.as]: added }, null, 2).replace(/^/gm, "  + "),
  ].join("\n");
  if (!await agreed(client, { before, after, shown }, options)) return;
  if (files !== undefined) await writeEntryFiles(files);
  const copy = await writeClientFile(client, { before, after });
  if (copy !== undefined) console.log(`${BEFORE}: ${copy}`);
  const isGateway = files !== undefined;
  for (const line of resultOf(client, { name: options.as, entry, isGateway })) console.log(line);
  if ("url" in place && place.caFile !== undefined && environment === undefined) {
    console.log(ownTrust(client.title));
  }
}

function removedLine(name: string): string {
  return `  - ${JSON.stringify(name)}`;
}

/** What mcp-remote needs in its environment; `undefined` for a client that makes the connection itself. */
function environmentOf({ readsUrls }: McpClient, place: EntryPlace): Record<string, string> | undefined {
  if (readsUrls || !("url" in place) || place.caFile === undefined) return undefined;
  return { NODE_EXTRA_CA_CERTS: resolve(place.caFile) };
}

function ownTrust(client: string): string {
  return `${client} connects by itself, and its entry has no place for --ca-file: add the authority to those that this ` +
    "machine trusts, or start the client with NODE_EXTRA_CA_CERTS=FILE if it runs on Node.";
}

/** @throws {UsageError} for a file that cannot be used, of which the person would only hear in the client. */
async function requireFiles(place: EntryPlace): Promise<void> {
  const { caFile } = "connection" in place ? place.connection : "url" in place ? place : {};
  const { tokenFile } = "connection" in place ? place.connection : {};
  if (caFile !== undefined) await readCa(caFile);
  const { activityLog } = "gateway" in place ? place.gateway : {};
  const problem = activityLog === undefined ? undefined : folderProblem(dirname(resolve(activityLog)));
  if (problem !== undefined) throw new UsageError(`Cannot use the folder of --activity-log: ${problem}`);
  if (tokenFile === undefined) return;
  await readTokenFile(tokenFile).catch((cause) => {
    throw new UsageError(cause.message, { cause });
  });
}

function plan(
  place: EntryPlace,
  as: string,
): { readonly entry: ClientEntry; readonly files?: EntryFiles } {
  if ("url" in place) return { entry: { url: entryUrl(place.url) } };
  refuseCachedProgram("make an entry");
  if ("documents" in place) return { entry: documentsEntry(place.documents) };
  const { command, args, files } = planEntry(place.connection, place.gateway, as);
  return { entry: { command, args }, files };
}

/** @throws {UsageError} for an address that mcp-remote refuses. */
function requireReachable({ title, readsUrls }: McpClient, url: string): void {
  const { protocol, hostname } = new URL(url);
  if (readsUrls || protocol === "https:" || ["localhost", "127.0.0.1"].includes(hostname)) return;
  throw new UsageError(
    `Cannot use "${url}" for ${title}: mcp-remote, which it starts, refuses http:// of another machine, since tokens ` +
      "can be read on the way; give the https:// address of the hub, or that of one on this machine as 127.0.0.1",
  );
}

function resultOf(
  { title, then, readsUrls }: McpClient,
  { name, entry, isGateway }: {
    readonly name: string;
    readonly entry: ClientEntry;
    readonly isGateway: boolean;
  },
): string[] {
  if (!("url" in entry)) {
    if (!isGateway) return [`${title} reads the documents as "${name}". ${then}`];
    return [`${title} starts the gateway as "${name}". ${then}`, SHARED_SEAT];
  }
  const reached = `${title} reaches ${entry.url} as "${name}", and signs in there. ${then}`;
  if (readsUrls) return [reached];
  const url = new URL(entry.url);
  // The cloud of the vendor calls a connector.
  const isOnInternet = isSecureUrl(url) && kindOfHost(url.hostname) === "public";
  return [
    reached,
    `${title} reads no URL from its file, so that it starts mcp-remote from npm, which needs Node.` +
    (isOnInternet ? " A connector in its settings needs no program." : ""),
  ];
}

export async function uninstallFrom(name: ClientName, options: ChangeOptions): Promise<void> {
  const client = locate(name, options);
  const before = await readClientFile(client);
  const after = before === undefined
    ? undefined
    : withEntry(before, client, { name: options.as, entry: undefined });
  if (before === undefined || after === before) {
    console.log(`${client.title} has no entry "${options.as}" in ${client.file}. Nothing to do.`);
    return;
  }
  const shown = removedLine(options.as);
  if (!await agreed(client, { before, after: after ?? "", shown }, options)) return;
  const copy = await writeClientFile(client, { before, after: after ?? "" });
  if (copy !== undefined) console.log(`${BEFORE}: ${copy}`);
  console.log(`${client.title} no longer has "${options.as}". ${client.thenRemoved}`);
  const token = writtenToken(before, client, options.as);
  if (token !== undefined) {
    console.log(`The token of the entry stays in ${token}, which entries of other clients may use.`);
  }
}

/** The entry of that name; empty if there is none. */
function entryIn(
  text: string | undefined,
  { format, member }: McpClient,
  name: string,
): Readonly<Record<string, unknown>> {
  if (text === undefined || text.trim() === "") return {};
  const { value } = readConfigText(text, { format });
  const servers = isRecord(value) ? value[member] : undefined;
  const entry = isRecord(servers) ? servers[name] : undefined;
  return isRecord(entry) ? entry : {};
}

/** The file of the token that `mcp install` has written for an entry, if it did and the file is there. */
function writtenToken(text: string, client: McpClient, name: string): string | undefined {
  const entry = entryIn(text, client, name);
  const args = isTexts(entry["args"]) ? entry["args"] : [];
  const path = args[args.indexOf("--token-file") + 1] ?? "";
  return existingStateFiles(basename(path)).find((file) => file === path);
}

/** Prints the link that adds the entry, or the MCP server at a URL, with one click. */
export async function printLink(client: LinkClient, place: EntryPlace, as: string): Promise<void> {
  await requireFiles(place);
  const { entry, files } = plan(place, as);
  // The link is for this user: what it starts reads these files.
  if (files !== undefined) await writeEntryFiles(files);
  console.log(installLink(client, { name: as, entry }));
  if ("url" in place && place.caFile !== undefined) console.error(ownTrust("The client"));
}

/** Prints the entry in the form that most clients read. */
export function printConfig(place: EntryPlace, as: string): void {
  const { entry, files } = plan(place, as);
  console.log(JSON.stringify({ mcpServers: { [as]: entry } }, null, 2));
  if (files?.token !== undefined) {
    console.error(
      `Write the token into ${files.token.path}, readable for you alone; "mcp install" does so by itself.`,
    );
  }
}

function locate(name: ClientName, { file }: ChangeOptions): McpClient {
  const client = clientOf(name);
  return file === undefined ? client : { ...client, file };
}

async function readClientFile({ file, title }: McpClient): Promise<string | undefined> {
  const reading = await readRegularFile(file, { maxBytes: MAX_BYTES });
  if ("text" in reading) return reading.text;
  if (reading.cause instanceof Deno.errors.NotFound) return undefined;
  throw new UsageError(`Cannot read the file of ${title}, "${file}": ${reading.state}`, {
    cause: reading.cause,
  });
}

function withEntry(
  text: string | undefined,
  client: McpClient,
  { name, entry, environment }: {
    readonly name: string;
    readonly entry: ClientEntry | undefined;
    readonly environment?: Readonly<Record<string, string>> | undefined;
  },
): string {
  const { member, format, file } = client;
  try {
    const path = [member, name];
    const removed = () =>
      format === "toml" ? removeTomlTable(text ?? "", path) : removeMemberText(text ?? "", path);
    if (entry === undefined) return removed();
    const line = client.isStrict && text?.trim() && hasMember(text, []) ? lineOfFault(text) : undefined;
    if (line !== undefined) {
      const why = `${client.title} reads no comments, and no comma before a closing bracket (line ${line})`;
      throw cannotChange(file, why);
    }
    const members = membersOf(client, entry);
    if (isOfAnotherUrl(entryIn(text, client, name), members)) {
      return withEntry(removed(), client, { name, entry, environment });
    }
    if (format === "toml") return setTomlMembers(text ?? "", path, members);
    if (text === undefined || !hasMember(text, path)) {
      const own = Object.entries({ ...members, env: environment }).filter(([, value]) => value !== undefined);
      return setMemberText(text, path, Object.fromEntries(own));
    }
    // What the person has added to the entry, such as an environment, stays.
    const changed = Object.entries(members).reduce(
      (changed, [key, value]) =>
        value === undefined
          ? removeMemberText(changed, [...path, key])
          : setMemberText(changed, [...path, key], value),
      text,
    );
    return Object.entries(environment ?? {}).reduce(
      (changed, [key, value]) => setMemberText(changed, [...path, "env", key], value),
      changed,
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [problem] = error.problems;
    const state = problem === undefined ? error.message : `${problem.message} (line ${problem.line})`;
    throw cannotChange(file, state, error);
  }
}

function cannotChange(file: string, why: string, cause?: unknown): UsageError {
  return new UsageError(
    `Cannot change "${file}": ${why}. Nothing was changed; correct the file, and try again`,
    {
      cause,
    },
  );
}

/** Whether an entry leads to another URL than these members: what a person has added to it, such as a token, is not for that one. */
function isOfAnotherUrl(entry: Readonly<Record<string, unknown>>, members: TomlMembers): boolean {
  const url = urlOf(entry);
  return url !== undefined && url !== urlOf(members);
}

/** The URL to which an entry leads by itself or by mcp-remote, in one form. */
function urlOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  const args = isTexts(entry["args"]) ? entry["args"] : [];
  const urls = [
    entry["url"],
    entry["serverUrl"],
    entry["httpUrl"],
    ...args.includes("mcp-remote") ? args : [],
  ];
  const url = urls.find((each) => typeof each === "string" && URL.canParse(each));
  return url === undefined ? undefined : new URL(String(url)).href.replace(/\/$/, "");
}

/** The members of an entry. What is `undefined` belongs to an entry of another kind. */
function membersOf({ isTyped, readsUrls }: McpClient, entry: ClientEntry): TomlMembers {
  const isRemote = "url" in entry && readsUrls;
  const type = isTyped ? { type: isRemote ? "http" : "stdio" } : {};
  if (isRemote) return { ...type, command: undefined, args: undefined, url: entry.url };
  const { command, args } = "url" in entry
    ? { command: "npx", args: ["-y", "mcp-remote", entry.url] }
    : entry;
  return { ...type, command, args, url: undefined };
}

async function agreed(
  { file, title }: McpClient,
  { before = "", after, shown }: {
    readonly before: string | undefined;
    readonly after: string;
    readonly shown: string;
  },
  { dryRun, yes }: ChangeOptions,
): Promise<boolean> {
  if (before === after) {
    console.log(`${title} has this entry already, in ${file}.`);
    return false;
  }
  console.log(`${file}:\n${shown}`);
  if (dryRun) {
    console.log("Nothing was written: this was a dry run.");
    return false;
  }
  if (yes) return true;
  if (!Deno.stdin.isTerminal()) {
    throw new UsageError("Cannot ask for an agreement here: add --yes, or --dry-run to look");
  }
  const copy = `${basename(file)}${BACKUP}`;
  const kept = before === "" || await isEmpty(`${file}${BACKUP}`)
    ? ""
    : ` ${BEFORE} is kept beside it, as ${copy}`;
  const text = `Write this change?${kept} (y or n): `;
  const answer = await new LazyEditor().use((editor) => ask(editor, { text, default: "n" }));
  if (/^y(es)?$/i.test(answer?.trim() ?? "")) return true;
  console.log("Nothing was written.");
  return false;
}

/**
 * Replaces the file in one step, with its permissions; a link is followed. Resolves to the path of the copy of the text
 * before the first change, if there was one.
 *
 * @throws {UsageError} the client has changed its file since it was read.
 */
export async function writeClientFile(
  client: McpClient,
  { before, after }: { readonly before: string | undefined; readonly after: string },
): Promise<string | undefined> {
  const { file, title } = client;
  if (await readClientFile(client) !== before) {
    throw new UsageError(
      `Cannot change "${file}": ${title} has changed it meanwhile. Nothing was written; run the command again`,
    );
  }
  await Deno.mkdir(dirname(file), { recursive: true });
  const real = await Deno.realPath(file).catch(() => undefined) ?? await withoutLink(file);
  const mode = before === undefined ? 0o600 : (await Deno.stat(real)).mode ?? 0o600;
  const copy = await keepBefore(real, before ?? "");
  await replaceFile(real, after, { mode: mode & 0o777 });
  if (Deno.build.os !== "windows") await Deno.chmod(real, mode & 0o777);
  return copy;
}

/** The file that will be new: a link to nothing is not replaced, since its target may come back. */
async function withoutLink(file: string): Promise<string> {
  const found = await Deno.lstat(file).catch(() => undefined);
  if (found?.isSymlink !== true) return file;
  throw new UsageError(
    `Cannot write "${file}": it is a link to a file that is not there; create that file or remove the link`,
  );
}

/** Keeps the text before the first change beside the file, and resolves to its path if there is such a text. */
async function keepBefore(file: string, text: string): Promise<string | undefined> {
  const copy = `${file}${BACKUP}`;
  try {
    await Deno.writeTextFile(copy, text, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  return await isEmpty(copy) ? undefined : copy;
}

async function isEmpty(file: string): Promise<boolean> {
  return (await Deno.stat(file).catch(() => undefined))?.size === 0;
}
