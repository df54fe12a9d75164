/** An MCP server in a TOML file, as Codex reads it: `[mcp_servers.NAME]`. The rest of the file stays as it is. */
import { isRecord } from "../../../../json.ts";
import { readConfigText } from "../../../../config/text.ts";
import { ConfigError, problemsError } from "../../../../config/problem.ts";

/** What is written of an entry. */
export interface TomlEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Sets the table of a server, or removes it.
 *
 * @throws {ConfigError} when the text is no TOML, or the server stands in it in another form than a table of its own.
 */
export function setTomlEntry(
  text: string,
  { member, name, entry }: {
    readonly member: string;
    readonly name: string;
    readonly entry: TomlEntry | undefined;
  },
): string {
  const before = readToml(text);
  const rest = withoutTables(text, [member, name]);
  const changed = entry === undefined ? rest : append(rest, tableOf([member, name], entry));
  const after = readToml(changed);
  // A server may stand in the file in a form that is not known here; then nothing is changed.
  const isKept =
    JSON.stringify(without(before, member, name)) === JSON.stringify(without(after, member, name));
  const hasEntry = serverIn(after, member, name) !== undefined;
  if (!isKept || hasEntry !== (entry !== undefined)) {
    throw new ConfigError(
      `Cannot edit "${member}.${name}": it is not a table of its own; change it in an editor`,
    );
  }
  return changed;
}

/** Whether the file has a server of this name. */
export function hasTomlEntry(text: string, member: string, name: string): boolean {
  return serverIn(readToml(text), member, name) !== undefined;
}

function readToml(text: string): unknown {
  const { value, syntax, duplicates } = readConfigText(text, { format: "toml" });
  const problems = [...syntax, ...duplicates];
  if (problems.length > 0) throw new ConfigError(problemsError("config", problems).message, { problems });
  return value ?? {};
}

function serverIn(value: unknown, member: string, name: string): unknown {
  const servers = isRecord(value) ? value[member] : undefined;
  return isRecord(servers) ? servers[name] : undefined;
}

function without(value: unknown, member: string, name: string): unknown {
  if (!isRecord(value)) return value;
  const { [member]: servers, ...rest } = value;
  if (!isRecord(servers)) return value;
  const { [name]: _removed, ...others } = servers;
  return Object.keys(others).length === 0 ? rest : { ...rest, [member]: others };
}

/** Cuts out the table of these keys and the tables below it. */
function withoutTables(text: string, keys: readonly string[]): string {
  let isInside = false;
  const kept = text.split(/(?<=\n)/).filter((line) => {
    const header = headerOf(line);
    if (header !== undefined) isInside = keys.every((key, index) => header[index] === key);
    return !isInside;
  });
  return kept.join("").replace(/\n{3,}$/, "\n\n");
}

/** The keys of `[a.b]` or `[[a.b]]`; `undefined` for any other line. */
function headerOf(line: string): string[] | undefined {
  const [, keys] = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line.trimEnd()) ?? [];
  return keys?.split(/\s*\.\s*(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((key) => key.replace(/^["'](.*)["']$/, "$1"));
}

function append(text: string, table: string): string {
  if (text.trim() === "") return table;
  return `${text.trimEnd()}\n\n${table}`;
}

function tableOf(keys: readonly string[], { command, args }: TomlEntry): string {
  const header = keys.map((key) => /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)).join(".");
  const list = args.map((arg) => JSON.stringify(arg)).join(", ");
  return `[${header}]\ncommand = ${JSON.stringify(command)}\nargs = [${list}]\n`;
}
