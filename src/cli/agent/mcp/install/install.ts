/** `mcp install`, `mcp uninstall` and `--print-config`: the gateway's entry in the file of an MCP client. */
import { dirname } from "@std/path";
import { removeMemberText, setMemberText } from "../../../../config/edit.ts";
import { ConfigError } from "../../../../config/problem.ts";
import { readRegularFile, replaceFile } from "../../../../files.ts";
import { UsageError } from "../../../outcome.ts";
import type { ChangeOptions, McpOptions } from "../options.ts";
import { type ClientName, clientOf, type McpClient } from "./clients.ts";
import { type EntryConnection, type GatewayEntry, planEntry, writeEntryFiles } from "./entry.ts";
import { setTomlEntry } from "./toml_entry.ts";

/** The largest file of a client that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The end of the name of the copy that a change leaves. */
const BACKUP = ".before-a2c";

/** Writes the gateway's entry into the file of a client. */
export async function installInto(
  name: ClientName,
  connection: EntryConnection,
  options: ChangeOptions & { readonly gateway: McpOptions },
): Promise<void> {
  const client = locate(name, options);
  const entry = planEntry(connection, options.gateway, options.as);
  const before = await readClientFile(client);
  const after = withEntry(before, client, { name: options.as, entry });
  if (!await agreed(client, { before, after }, options)) return;
  await writeEntryFiles(entry.files);
  await writeClientFile(client, { before, after });
  console.log(`${client.title} starts the gateway as "${options.as}". ${client.then}`);
}

/** Removes the entry again. */
export async function uninstallFrom(name: ClientName, options: ChangeOptions): Promise<void> {
  const client = locate(name, options);
  const before = await readClientFile(client);
  const after = before === undefined
    ? undefined
    : withEntry(before, client, { name: options.as, entry: undefined });
  if (before === undefined || after === before) {
    console.log(`${client.title} has no entry "${options.as}" in ${client.file}. Nothing is to do.`);
    return;
  }
  if (!await agreed(client, { before, after: after ?? "" }, options)) return;
  await writeClientFile(client, { before, after: after ?? "" });
  console.log(`"${options.as}" is removed. ${client.then}`);
}

/** Prints the entry in the form that most clients read. */
export function printConfig(connection: EntryConnection, gateway: McpOptions, as: string): void {
  const { command, args, files } = planEntry(connection, gateway, as);
  console.log(JSON.stringify({ mcpServers: { [as]: { command, args } } }, null, 2));
  if (files.token !== undefined) {
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
  { member, format, extra, file }: McpClient,
  { name, entry }: { readonly name: string; readonly entry: GatewayEntry | undefined },
): string {
  try {
    if (format === "toml") return setTomlEntry(text ?? "", { member, name, entry });
    if (entry === undefined) return removeMemberText(text ?? "", [member, name]);
    const { command, args } = entry;
    return setMemberText(text, [member, name], { ...extra, command, args });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(`Cannot change "${file}": ${error.message}`, { cause: error });
  }
}

/** Shows the change, and asks whether to make it. */
async function agreed(
  { file, title }: McpClient,
  { before = "", after }: { readonly before: string | undefined; readonly after: string },
  { dryRun, yes }: ChangeOptions,
): Promise<boolean> {
  if (before === after) {
    console.log(`${title} has this entry already, in ${file}.`);
    return false;
  }
  console.log(`${file}:\n${changeText(before, after)}`);
  if (dryRun) {
    console.log("Nothing was written: this was a dry run.");
    return false;
  }
  if (yes) return true;
  if (!Deno.stdin.isTerminal()) {
    throw new UsageError("Cannot ask for an agreement here: add --yes, or --dry-run to look");
  }
  return await Promise.resolve(
    confirm(`Write this change? The file before it is kept as ${BACKUP.slice(1)}`),
  );
}

/** The lines that go and come, with two lines around them. */
function changeText(before: string, after: string): string {
  const [old, next] = [before, after].map((text) => text.split("\n"));
  if (old === undefined || next === undefined) return "";
  const shortest = Math.min(old.length, next.length);
  let start = 0;
  while (start < shortest && old[start] === next[start]) start++;
  let end = 0;
  while (end < shortest - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
  const around = (lines: readonly string[]) => lines.map((line) => `    ${line}`);
  return [
    ...around(old.slice(Math.max(0, start - 2), start)),
    ...old.slice(start, old.length - end).map((line) => `  - ${line}`),
    ...next.slice(start, next.length - end).map((line) => `  + ${line}`),
    ...around(next.slice(next.length - end, next.length - end + 2)),
  ].join("\n");
}

/** Replaces the file in one step, with its permissions; a link is followed, and the text before is kept beside it. */
async function writeClientFile(
  { file }: McpClient,
  { before, after }: { readonly before: string | undefined; readonly after: string },
): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  const real = await Deno.realPath(file).catch(() => file);
  const mode = before === undefined ? 0o600 : (await Deno.stat(real)).mode ?? 0o600;
  if (before !== undefined) await replaceFile(`${real}${BACKUP}`, before, { mode: 0o600 });
  await replaceFile(real, after, { mode: mode & 0o777 });
  if (Deno.build.os !== "windows") await Deno.chmod(real, mode & 0o777);
}
