/** The entry by which a client starts the gateway. */
import { DOCUMENTS_TYPE, documentsServer, grantWarnings } from "../../../../config/documents.ts";
import { originOf } from "../../../../config/file.ts";
import { folderProblem } from "../../../../config/start_check.ts";
import { digestOfText } from "../../../../json/digest.ts";
import { resolve } from "@std/path";
import { replaceFile } from "../../../../files/files.ts";
import { DEFAULT_SOCKET_PATH } from "../../../../protocol/server_address.ts";
import type { AgentConnectionOptions } from "../../../credentials.ts";
import type { SearchAndFetch } from "../../../../gateway/gateway_options.ts";
import type { PresentingOptions } from "../../../gateway_options.ts";
import type { HttpOptions } from "../../../http_service.ts";
import { programCommand } from "../../../other_program.ts";
import { printError, UsageError } from "../../../outcome.ts";
import type { ResourceServerOptions } from "../../../resource_server.ts";
import { stateFolder } from "../../../../files/state_folder.ts";

/** The options of `mcp`. */
export interface McpOptions extends HttpOptions, ResourceServerOptions, PresentingOptions {
  readonly builtinTools: boolean;
  readonly searchFetch: SearchAndFetch;
  readonly state?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly activityArguments?: boolean;
  readonly printConfig: boolean;
  /** Folders to serve in place of an office, by an entry alone. */
  readonly documents?: readonly string[];
}

export interface GatewayEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** What a client gets: a program that it starts, or the URL of a hub or of a gateway over HTTP. */
export type ClientEntry = GatewayEntry | { readonly url: string };

export type EntryConnection = AgentConnectionOptions & { readonly computer?: readonly string[] };

/** The files that an entry needs, to be written with it. */
export interface EntryFiles {
  readonly state: string;
  /** The token, when it was given as a text. */
  readonly token: { readonly path: string; readonly content: string } | undefined;
}

/**
 * The entry for these options. A token never stands in it: it goes into a file that only this user can read.
 *
 * @param entryName The name of the entry, after which its files are called.
 * @throws {UsageError} for credentials that would have to stand in the client's file.
 */
export function planEntry(
  connection: EntryConnection,
  options: McpOptions,
  entryName: string,
): GatewayEntry & { readonly files: EntryFiles } {
  refuseOpenSecrets(connection);
  const folder = stateFolder();
  if (folder === undefined) {
    throw new UsageError("Cannot keep the gateway's files: this user has no home; set XDG_STATE_HOME");
  }
  const fileName = `${entryName.replaceAll(/[^A-Za-z0-9._-]/g, "_")}-${placeOf(connection)}`;
  const state = resolve(options.state ?? `${folder}/gateway-${fileName}.json`);
  const token = connection.token === undefined
    ? undefined
    : { path: resolve(`${folder}/gateway-${fileName}.token`), content: `${connection.token}\n` };
  const { command, args } = programCommand("agent");
  const words = [
    ...args,
    "mcp",
    ...connectionWords(connection, token?.path),
    ...optionWords(options),
    "--state",
    state,
  ];
  return { command, args: words, files: { state, token } };
}

/**
 * The entry of the MCP server for folders of documents, with its tools, which needs no office.
 *
 * @throws {UsageError} for a folder that cannot be read.
 */
export function documentsEntry(folders: readonly string[]): GatewayEntry {
  for (const folder of folders) {
    const problem = folderProblem(folder);
    if (problem !== undefined) throw new UsageError(`Cannot use --documents: ${problem}`);
  }
  const origin = originOf(resolve("config.json"));
  for (const warning of grantWarnings({ folders }, origin)) printError(`warning: --documents: ${warning}`);
  const { server_parameters } = documentsServer({ folders }, { name: DOCUMENTS_TYPE, origin });
  const { command, args } = server_parameters;
  return { command, args: args.filter((word) => word !== "--no-tools") };
}

/**
 * The URL of a hub, or of a gateway over HTTP, as an entry or a link may have it.
 *
 * @throws {UsageError} it is none of `http:` or `https:`, has no path, or has a password.
 */
export function entryUrl(raw: string): string {
  const url = URL.parse(raw);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `Cannot use "${raw}" as the URL of an MCP server: give one such as https://hub.example.com/mcp/o/lab`,
    );
  }
  // Others may read the file of a client, and a link is passed on.
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `Cannot use the URL of "${url.host}": the file of a client, or a link, is no place for a password`,
    );
  }
  if (url.pathname === "/") {
    throw new UsageError(
      `Cannot use "${raw}": it names no office; give ${url.origin}/mcp/o/OFFICE, or ${url.origin}/mcp for all of yours`,
    );
  }
  return url.href;
}

/** Tells entries of one name apart: a client of another Server must not get the token of this one. */
function placeOf({ url, offices: [office, ...others], name }: EntryConnection): string {
  const place = JSON.stringify([url, office, name, ...others]);
  return digestOfText(place).slice(0, 10);
}

/** Writes the files of an entry that have to be there before the client starts it. */
export async function writeEntryFiles({ token, state }: EntryFiles): Promise<void> {
  await Deno.mkdir(resolve(state, ".."), { recursive: true, mode: 0o700 });
  if (token !== undefined) await replaceFile(token.path, token.content, { mode: 0o600 });
}

function refuseOpenSecrets({ auth = {}, header = {}, proxy = "" }: EntryConnection): void {
  if (proxy.includes("@")) {
    throw new UsageError(
      "Cannot write --proxy with a user name into the file of a client, where others may read it: set HTTPS_PROXY for the client",
    );
  }
  const [option] = [
    ...(Object.keys(auth).length > 0 ? ["--auth"] : []),
    ...(Object.keys(header).length > 0 ? ["--header"] : []),
  ];
  if (option === undefined) return;
  throw new UsageError(
    `Cannot write ${option} into the file of a client, where others may read it: use --token-file or --token-command`,
  );
}

function connectionWords(connection: EntryConnection, tokenPath: string | undefined): string[] {
  const { url, offices, name, path, protocol, computer = [], tokenFile, tokenCommand, caFile, proxy } =
    connection;
  const file = tokenPath ?? (tokenFile === undefined ? undefined : resolve(tokenFile));
  return [
    ...["--url", url, ...offices.flatMap((office) => ["--office", office]), "--name", name],
    ...given("--path", path === DEFAULT_SOCKET_PATH ? undefined : path),
    ...given("--protocol", protocol),
    ...given("--token-file", file),
    ...given("--token-command", tokenCommand),
    ...given("--ca-file", caFile === undefined ? undefined : resolve(caFile)),
    ...given("--proxy", proxy),
    ...computer.flatMap((each) => ["--computer", each]),
  ];
}

function optionWords(options: McpOptions): string[] {
  const {
    tools,
    builtinTools,
    searchFetch,
    onChange,
    timeout,
    patience,
    activityLog,
    activityArguments = false,
  } = options;
  return [
    ...given("--tools", tools === "all" ? undefined : tools),
    ...(builtinTools ? [] : ["--no-builtin-tools"]),
    ...given("--search-fetch", searchFetch === "auto" ? undefined : searchFetch),
    ...given("--on-change", onChange === "allow" ? undefined : onChange),
    ...given("--timeout", timeout === undefined ? undefined : `${timeout}s`),
    ...given("--patience", patience === undefined ? undefined : `${patience}s`),
    ...given("--activity-log", activityLog === undefined ? undefined : resolve(activityLog)),
    ...(activityArguments ? ["--activity-arguments"] : []),
  ];
}

function given(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [flag, String(value)];
}
