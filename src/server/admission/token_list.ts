/** The text of a token file (`docs/credentials.md#token-files`). Pure. */
import { isRecord, parseJson } from "../../json/json.ts";
import { nameProblem } from "../../protocol/names.ts";
import { describeError } from "../../text/text.ts";
import { GRANTED_ROLES, type GrantedRole, isGrantedRole } from "./provider.ts";
import { contentProblem } from "../../files/watched_files.ts";

/** A token and what it allows. */
export interface StaticToken {
  /** The token itself; or `sha256:` and the 64 hexadecimal digits of its SHA-256, so that no secret is stored. */
  readonly token: string;
  /** The principal; `token-1`, `token-2` … by default. Several tokens may have one name: then all are that principal. */
  readonly name?: string | undefined;
  /** The offices that it may join; all by default. */
  readonly offices?: readonly string[] | undefined;
  /** The roles that it may have; all by default. */
  readonly roles?: readonly GrantedRole[] | undefined;
  /** When it expires, in milliseconds since 1970; never by default. */
  readonly expiresAtMs?: number | undefined;
}

export interface ListedToken extends StaticToken {
  /** Such as `line 3`. */
  readonly place: string;
}

export const HASH_PREFIX = "sha256:";
const ALL = "*";
const KEYS: readonly string[] = ["token", "name", "offices", "roles", "expires"];
const LISTS: readonly string[] = ["offices", "roles"];
const COMMENT = /\s#.*$/s;
const ATTRIBUTE = /^([a-z_]+)=(.*)$/;
/** A date, and a time with its zone. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads a list of tokens: a JSON array, or lines of a token and its attributes.
 *
 * @throws {FileContentError} that names the line or the entry, and quotes no token.
 */
export function parseTokenList(text: string): readonly ListedToken[] {
  const body = text.trimStart();
  const tokens = body.startsWith("[") ? parseEntries(body) : parseLines(text);
  if (tokens.length === 0) throw contentProblem("it contains no token");
  return tokens;
}

/** @throws {FileContentError} that names the token by its position. */
export function listTokens(tokens: readonly (string | StaticToken)[]): readonly ListedToken[] {
  return tokens.map((each, index) => {
    const { expiresAtMs, ...entry } = typeof each === "string" ? { token: each } : each;
    const listed = toToken(entry, `token ${index + 1}`);
    return { ...listed, expiresAtMs: expiresAtMs ?? listed.expiresAtMs };
  });
}

function parseEntries(text: string): ListedToken[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw contentProblem("it begins like a JSON array, and is not valid JSON");
  return list.map((entry, index) => toToken(entry, `entry ${index + 1}`));
}

function parseLines(text: string): ListedToken[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index) => {
    const line = raw.trim().replace(COMMENT, "").trimEnd();
    return line === "" || line.startsWith("#") ? [] : [parseLine(line, `line ${index + 1}`)];
  });
}

function parseLine(line: string, place: string): ListedToken {
  const [token = "", ...words] = line.split(/\s+/);
  // A command that was to print it may have failed, and everybody can guess the text that stands in its place.
  if (KEYS.includes(ATTRIBUTE.exec(token)?.[1] ?? "")) throw contentProblem(`${place} has no token`);
  const pairs = words.flatMap((word) => {
    const [, key, value = ""] = ATTRIBUTE.exec(word) ?? [];
    return key === undefined ? [] : [[key, LISTS.includes(key) ? value.split(",") : value] as const];
  });
  // Otherwise it would become a token that nobody has, or one without limits although its line names some.
  if (pairs.length < words.length || (pairs.length > 0 && /[,;]$/.test(token))) {
    throw contentProblem(
      `${place} has a space or a sign that does not belong there; write ` +
        `TOKEN name=… offices=a,b roles=… expires=…, without a space after a comma, ` +
        `a comment after " #", and a token with spaces in the JSON form of the file`,
    );
  }
  const entry = Object.fromEntries([["token", token], ...pairs]);
  if (Object.keys(entry).length <= pairs.length) throw contentProblem(`${place} has an attribute twice`);
  return toToken(entry, place);
}

/** @throws {FileContentError} that names `place`, and quotes no token. */
function toToken(entry: unknown, place: string): ListedToken {
  if (!isRecord(entry)) throw contentProblem(`${place} is not an object`);
  if (!Object.keys(entry).every((key) => KEYS.includes(key))) {
    throw contentProblem(`${place} has an unknown attribute; known: ${KEYS.join(", ")}`);
  }
  const { token, name, offices, roles, expires } = entry;
  if (typeof token !== "string" || token === "") throw contentProblem(`${place} has no token`);
  if (token.startsWith(HASH_PREFIX) && !/^sha256:[0-9a-f]{64}$/i.test(token)) {
    throw contentProblem(`${place} begins with "${HASH_PREFIX}", and has not 64 hexadecimal digits`);
  }
  try {
    return {
      place,
      token,
      name: name === undefined ? undefined : readName(name, "its name"),
      offices: offices === undefined ? undefined : readOffices(offices),
      roles: roles === undefined ? undefined : readRoles(roles),
      expiresAtMs: expires === undefined ? undefined : readTime(expires),
    };
  } catch (cause) {
    throw contentProblem(`${place}: ${describeError(cause)}`, { cause });
  }
}

function readName(value: unknown, what: string): string {
  const name = typeof value === "string" ? value.normalize("NFKC") : "";
  const problem = nameProblem(name);
  if (problem !== undefined) throw contentProblem(`${what} ${problem}`);
  return name;
}

function readOffices(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) throw contentProblem("its offices must be a list");
  return value.includes(ALL) ? undefined : value.map((office) => readName(office, "each of its offices"));
}

function readRoles(value: unknown): readonly GrantedRole[] {
  if (Array.isArray(value) && value.every(isGrantedRole)) return value;
  throw contentProblem(`its roles must be a list of ${GRANTED_ROLES.join(", ")}`);
}

/** A date alone ends with its day, in UTC. */
function readTime(value: unknown): number {
  const [, date, time] = typeof value === "string" ? ISO_TIME.exec(value) ?? [] : [];
  const timeMs = date === undefined ? NaN : Date.parse(date + (time ?? "T23:59:59.999Z"));
  if (Number.isNaN(timeMs)) {
    throw contentProblem("expires must be a date, or a time with its zone, in ISO 8601");
  }
  return timeMs;
}
