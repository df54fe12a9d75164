/** An entry of a configuration for documents: folders, which the Computer serves by a program of its own. */
import { digestOfText } from "../json/digest.ts";
import { basename, dirname, join } from "@std/path";
import { z } from "zod";
import { globProblem } from "../files/globs.ts";
import { isRecord } from "../json/json.ts";
import type { MCPServerConfig } from "../protocol/config.ts";
import { serverKinds } from "../protocol/schemas/config.ts";
import { documentsProgram, importWords, PackageMissingError } from "../own_imports.ts";
import { readWith, warnOfOwnKeys } from "./explain.ts";
import { type ConfigOrigin, fileOf, type VariableContext } from "./foreign/variables.ts";
import type { ConfigPath, Findings } from "./problem.ts";
import { documentsHost } from "../uri/dpe_uri.ts";

/** The `type` of an entry for documents. */
export const DOCUMENTS_TYPE = "documents";

/**
 * Folders of files that become documents, in the place of an MCP server. The members of every MCP server, such as
 * `disabled`, may stand beside these.
 */
export interface DocumentsEntry {
  /** Tells that it is no other MCP server. */
  readonly type: typeof DOCUMENTS_TYPE;
  /** The folders; a relative one is below that of the file, and `~` is the user's home. */
  readonly folders: readonly string[];
  /** Globs of the files that become documents, such as `**\/*.pdf`; every file that can be read by default. */
  readonly include?: readonly string[] | null | undefined;
  /** Globs of files and folders that are left out. */
  readonly exclude?: readonly string[] | null | undefined;
  /** Whether `.gitignore` files are followed; false by default. */
  readonly gitignore?: boolean | null | undefined;
  /** Whether files and folders whose name begins with a dot are documents as well; false by default. */
  readonly hidden?: boolean | null | undefined;
  /** The languages in which text in pictures and scans is read, as models of Tesseract, such as `eng` or `deu+eng`. */
  readonly ocr?: string | null | undefined;
  /** The size of the largest file that is read, in MiB; 100 by default. */
  readonly max_file_mib?: number | null | undefined;
  /** The most memory of a process that reads files, in MiB, at least 128; 768 by default. */
  readonly parser_memory_mib?: number | null | undefined;
}

const glob = z.string().min(1).superRefine((value, context) => {
  const message = value === "" ? undefined : globProblem(value);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});
const globs = z.array(glob).nullish();
const members = {
  type: z.literal(DOCUMENTS_TYPE),
  folders: z.array(z.string().min(1)).min(1),
  include: globs,
  exclude: globs,
  gitignore: z.boolean().nullish(),
  hidden: z.boolean().nullish(),
  ocr: z.string().regex(/^[a-z_]+(?:\+[a-z_]+)*$/).nullish(),
  max_file_mib: z.int().min(1).nullish(),
  parser_memory_mib: z.int().min(128).nullish(),
};

/** The schema of an entry for documents. */
export const documentsEntry: z.ZodType<DocumentsEntry> = z.looseObject(members);

/** Reads an entry, and writes the command that serves its folders; `undefined` when it has problems. */
export function readDocuments(
  value: Readonly<Record<string, unknown>>,
  name: string,
  { path, findings, origin }: VariableContext,
): MCPServerConfig | undefined {
  const entry = readWith(documentsEntry, value, { path, findings });
  if (entry === undefined) return undefined;
  warnOfOwnKeys("stdio", value, { known: Object.keys(members), path, findings });
  if (value["sandbox"] !== undefined) {
    findings.warn([...path, "sandbox"], "has no effect: it may read its folders, and nothing else");
  }
  for (const warning of grantWarnings(entry, origin)) findings.warn([...path, "folders"], warning);
  const base = Object.fromEntries(
    Object.entries(value).filter(([key]) => !Object.hasOwn(members, key) && key !== "sandbox"),
  );
  try {
    const server = { ...base, ...documentsServer(entry, { name, origin }) };
    return readWith(serverKinds.stdio, server, { path, findings });
  } catch (error) {
    if (!(error instanceof PackageMissingError)) throw error;
    findings.refuse(
      path,
      `needs package "@a2c-smcp/documents", which is not installed; run "${error.command}"`,
    );
    return undefined;
  }
}

/** Refuses entries for documents whose names give one host: a Computer could not tell their documents apart. */
export function refuseSharedHosts(servers: readonly NamedEntry[], findings: Findings): void {
  const owners = new Map<string, string>();
  for (const { path, value, written } of servers) {
    const host = isRecord(written) && written["type"] === DOCUMENTS_TYPE ? hostOfServer(value) : undefined;
    if (host === undefined) continue;
    const { name } = value;
    const owner = owners.get(host) ?? name;
    owners.set(host, owner);
    if (owner === name) continue;
    findings.refuse(path, `gives its documents the host "${host}" as "${owner}" does; change its name`);
  }
}

/** A server that was read, and its entry as it is written. */
interface NamedEntry {
  readonly path: ConfigPath;
  readonly value: MCPServerConfig;
  readonly written?: unknown;
}

/** The MCP server for folders, as if its command were written in the configuration. */
export function documentsServer(
  entry: Omit<DocumentsEntry, "type">,
  { name, origin }: { readonly name: string; readonly origin: ConfigOrigin | undefined },
) {
  const folders = foldersOf(entry, origin);
  const cache = cacheOf(folders, origin);
  const readable = [...folders, ...cache === undefined ? [] : [cache]];
  const deno = Deno.execPath();
  const args = [
    "run",
    "--no-prompt",
    "--ignore-env",
    ...importWords(),
    `--allow-read=${readable.map(grantable).join(",")}`,
    ...(cache === undefined ? [] : [`--allow-write=${cache}`]),
    deno.includes(",") ? "--allow-run" : `--allow-run=${deno}`,
    documentsProgram(),
    ...folders,
    // The tools of toolkits and gateway find and read the documents of all Computers; each would stand there twice.
    "--no-tools",
    ...(cache === undefined ? [] : ["--cache", cache]),
    "--host",
    hostOf(name, folders),
    ...(entry.include ?? []).flatMap((glob) => ["--include", glob]),
    ...(entry.exclude ?? []).flatMap((glob) => ["--exclude", glob]),
    ...(entry.gitignore === true ? ["--gitignore"] : []),
    ...(entry.hidden === true ? ["--hidden"] : []),
    ...(entry.ocr === null || entry.ocr === undefined ? [] : ["--ocr", entry.ocr]),
    ...sizeOf("--max-file-size", entry.max_file_mib),
    ...sizeOf("--parser-memory", entry.parser_memory_mib),
  ];
  return { name, type: "stdio" as const, server_parameters: { command: deno, args } };
}

/** An option of the program with its value; nothing when the entry leaves the limit to the program. */
function sizeOf(option: string, value: number | null | undefined): readonly string[] {
  return value === null || value === undefined ? [] : [option, `${value}MiB`];
}

/** The paths of the folders of an entry. */
export function foldersOf(
  { folders }: Pick<DocumentsEntry, "folders">,
  origin: ConfigOrigin | undefined,
): string[] {
  return folders.map((folder) => homeOf(folder, origin) ?? fileOf(folder, origin));
}

/** What an entry may read besides its folders. */
export function grantWarnings(
  entry: Pick<DocumentsEntry, "folders">,
  origin: ConfigOrigin | undefined,
): string[] {
  return foldersOf(entry, origin).filter((folder) => grantable(folder) !== folder).map((folder) =>
    `a path with a comma cannot be granted: it may read all of ${JSON.stringify(grantable(folder))}`
  );
}

function homeOf(folder: string, origin: ConfigOrigin | undefined): string | undefined {
  return folder === "~" ? origin?.home : undefined;
}

/** What was read from files is kept between runs where the user's cache is, if its path alone can be granted. */
function cacheOf(folders: readonly string[], origin: ConfigOrigin | undefined): string | undefined {
  if (origin?.cache?.includes(",") !== false) return undefined;
  const digest = digestOfText(JSON.stringify(folders)).slice(0, 16);
  return join(origin.cache, "a2c-smcp", "documents", digest);
}

/** The host of the URIs, of which each server of a Computer needs one of its own; a name that says nothing gives none. */
function hostOf(name: string, folders: readonly string[]): string {
  const names = name.toLowerCase() === DOCUMENTS_TYPE ? folders.map((folder) => basename(folder)) : [name];
  return documentsHost(names);
}

/** The host of a server that {@linkcode documentsServer} made. */
export function hostOfServer(server: MCPServerConfig): string | undefined {
  const args = server.type === "stdio" ? server.server_parameters.args ?? [] : [];
  const at = args.indexOf("--host");
  return at < 0 ? undefined : args[at + 1];
}

/** Deno 2.9.6 cannot be given a path with a comma; in its place stands the nearest folder above that has none. */
function grantable(path: string): string {
  const comma = path.indexOf(",");
  return comma === -1 ? path : dirname(path.slice(0, comma + 1));
}
