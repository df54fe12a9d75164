/** The text of a token file (`docs/credentials.md#token-files`). Pure. */
import { isRecord, parseJson } from "../../json/json.ts";
import { nameProblem } from "../../protocol/names.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../../protocol/rights.ts";
import { describeError, isDate } from "../../text/text.ts";
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
  /** The Computers that a client of the hub may use; all by default. */
  readonly computers?: readonly string[] | undefined;
  /** What a client of the hub may do; `call` by default. */
  readonly rights?: AccessRights | undefined;
}

/** Whose tokens a list has: those of members of offices, or of MCP clients of the hub. */
export type TokenKind = "member" | "client";

export const HASH_PREFIX = "sha256:";
const ALL = "*";
const KEYS: Readonly<Record<TokenKind, readonly string[]>> = {
  member: ["token", "name", "offices", "roles", "expires"],
  client: ["token", "name", "offices", "computers", "rights", "expires"],
};
const ALL_KEYS: readonly string[] = Object.values(KEYS).flat();
const LISTS: readonly string[] = ["offices", "roles", "computers"];
const COMMENT = /\s#.*$/s;
const ATTRIBUTE = /^([a-z_]+)=(.*)$/;
const ATTRIBUTE_NAME = /^[a-z_]{1,16}$/;
/** A date, and a time with its zone. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads a list of tokens: a JSON array, or lines of a token and its attributes.
 *
 * @throws {FileContentError} that names the line or the entry, and quotes no token.
 */
export function parseTokenList(text: string, kind: TokenKind = "member"): readonly ListedToken[] {
  const body = text.trimStart();
  const tokens = body.startsWith("[") ? parseEntries(body, kind) : parseLines(text, kind);
  if (tokens.length === 0) throw contentProblem("it contains no token");
  return tokens;
}

/** @throws {FileContentError} that names the token by its position. */
export function listTokens(tokens: readonly (string | StaticToken)[]): readonly ListedToken[] {
  return tokens.map((each, index) => {
    const { expiresAtMs, ...entry } = typeof each === "string" ? { token: each } : each;
    const listed = toToken(entry, { place: `token ${index + 1}`, kind: "member" });
    return { ...listed, expiresAtMs: expiresAtMs ?? listed.expiresAtMs };
  });
}

function parseEntries(text: string, kind: TokenKind): ListedToken[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw contentProblem("it begins like a JSON array, and is not valid JSON");
  return list.map((entry, index) => toToken(entry, { place: `entry ${index + 1}`, kind }));
}

function parseLines(text: string, kind: TokenKind): ListedToken[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index) => {
    const line = raw.trim().replace(COMMENT, "").trimEnd();
    return line === "" || line.startsWith("#") ? [] : [parseLine(line, { place: `line ${index + 1}`, kind })];
  });
}

interface Reading {
  readonly place: string;
  readonly kind: TokenKind;
}

function parseLine(line: string, reading: Reading): ListedToken {
  const { place, kind } = reading;
  const [token = "", ...words] = line.split(/\s+/);
  // A command that was to print it may have failed, and everybody can guess the text that stands in its place.
  if (ALL_KEYS.includes(ATTRIBUTE.exec(token)?.[1] ?? "")) throw contentProblem(`${place} has no token`);
  const pairs = words.flatMap((word) => {
    const [, key, value = ""] = ATTRIBUTE.exec(word) ?? [];
    return key === undefined ? [] : [[key, LISTS.includes(key) ? value.split(",") : value] as const];
  });
  // Otherwise it would become a token that nobody has, or one without limits although its line names some.
  if (pairs.length < words.length || (pairs.length > 0 && /[,;]$/.test(token))) {
    throw contentProblem(
      `${place} has a space or a sign that does not belong there; write ` +
        `TOKEN ${EXAMPLES[kind]}, without a space after a comma, ` +
        `a comment after " #", and a token with spaces in the JSON form of the file`,
    );
  }
  const entry = Object.fromEntries([["token", token], ...pairs]);
  if (Object.keys(entry).length <= pairs.length) throw contentProblem(`${place} has an attribute twice`);
  return toToken(entry, reading);
}

const EXAMPLES: Readonly<Record<TokenKind, string>> = {
  member: "name=… offices=a,b roles=… expires=…",
  client: "name=… offices=a,b computers=… rights=… expires=…",
};

/** @throws {FileContentError} that names `place`, and quotes no token. */
function toToken(entry: unknown, { place, kind }: Reading): ListedToken {
  if (!isRecord(entry)) throw contentProblem(`${place} is not an object`);
  const unknown = Object.keys(entry).find((key) => !KEYS[kind].includes(key));
  if (unknown !== undefined) {
    // A key of JSON may be a token.
    const named = ATTRIBUTE_NAME.test(unknown) ? ` "${unknown}"` : "";
    throw contentProblem(`${place} has an unknown attribute${named}; known: ${KEYS[kind].join(", ")}`);
  }
  const { token, name, offices, roles, computers, rights, expires } = entry;
  if (typeof token !== "string" || token === "") throw contentProblem(`${place} has no token`);
  if (token.startsWith(HASH_PREFIX) && !/^sha256:[0-9a-f]{64}$/i.test(token)) {
    throw contentProblem(`${place} begins with "${HASH_PREFIX}", and has not 64 hexadecimal digits`);
  }
  try {
    return {
      place,
      token,
      name: name === undefined ? undefined : readName(name, "its name"),
      offices: offices === undefined ? undefined : readNames(offices, "offices"),
      roles: roles === undefined ? undefined : readRoles(roles),
      computers: computers === undefined ? undefined : readNames(computers, "computers"),
      rights: rights === undefined ? undefined : readRights(rights),
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

function readNames(value: unknown, what: "offices" | "computers"): readonly string[] | undefined {
  if (!Array.isArray(value)) throw contentProblem(`its ${what} must be a list`);
  return value.includes(ALL) ? undefined : value.map((name) => readName(name, `each of its ${what}`));
}

function readRights(value: unknown): AccessRights {
  const rights = ACCESS_RIGHTS.find((each) => each === value);
  if (rights === undefined) throw contentProblem(`its rights must be ${ACCESS_RIGHTS.join(", ")}`);
  return rights;
}

function readRoles(value: unknown): readonly GrantedRole[] {
  if (Array.isArray(value) && value.every(isGrantedRole)) return value;
  throw contentProblem(`its roles must be a list of ${GRANTED_ROLES.join(", ")}`);
}

/** A date alone ends with its day, in UTC. */
function readTime(value: unknown): number {
  const [, date, time] = typeof value === "string" ? ISO_TIME.exec(value) ?? [] : [];
  const isReal = date !== undefined && isDate(date);
  const timeMs = isReal ? Date.parse(date + (time ?? "T23:59:59.999Z")) : NaN;
  if (Number.isNaN(timeMs)) {
    throw contentProblem("expires must be a date, or a time with its zone, in ISO 8601");
  }
  return timeMs;
}
