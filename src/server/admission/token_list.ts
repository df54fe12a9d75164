/** The text of a token file (`docs/credentials.md#token-files`). Pure. */
import { isRecord, parseJson } from "../../json.ts";
import { nameProblem } from "../../protocol/names.ts";
import { type GrantedRole, isGrantedRole } from "./grant.ts";
import { contentProblem } from "./watched_files.ts";

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
const KEYS = ["name", "offices", "roles", "expires"] as const;
type Key = typeof KEYS[number];
const ATTRIBUTE = /\s+([a-z_]+)=(\S*)$/;
const COMMENT = /\s#.*$/s;
/** A date, and a time with its zone. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;
const LINE_FORM = "TOKEN name=… offices=a,b roles=… expires=…";

/**
 * Reads a list of tokens: a JSON array, or lines of a token and its attributes.
 *
 * @throws {FileContentError} that names the line or the entry, and quotes no token.
 */
export function parseTokenList(text: string): readonly ListedToken[] {
  const body = text.replace(/^\uFEFF/, "");
  const tokens = body.trimStart().startsWith("[") ? parseEntries(body) : parseLines(body);
  if (tokens.length === 0) throw contentProblem("it contains no token");
  return tokens;
}

/** @throws {FileContentError} that names the token by its position. */
export function listTokens(tokens: readonly (string | StaticToken)[]): readonly ListedToken[] {
  return tokens.map((each, index) => {
    const place = `token ${index + 1}`;
    if (typeof each === "string") return toToken({ token: each }, place);
    const { token, name, offices, roles, expiresAtMs } = each;
    return { ...toToken({ token, name, offices, roles }, place), expiresAtMs };
  });
}

function parseLines(text: string): ListedToken[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index) => {
    const line = raw.trim().replace(COMMENT, "").trimEnd();
    if (line === "" || line.startsWith("#")) return [];
    return [parseLine(line, `line ${index + 1}`)];
  });
}

/** Attributes are read from the end, so that what is left is the token, or a slip of the pen. */
function parseLine(line: string, place: string): ListedToken {
  const values = new Map<Key, string>();
  let token = line;
  for (let match = ATTRIBUTE.exec(token); match !== null; match = ATTRIBUTE.exec(token)) {
    const [attribute, name = "", value = ""] = match;
    const key = KEYS.find((each) => each === name);
    if (key === undefined) {
      throw contentProblem(`${place} has an unknown attribute "${name}"; known: ${KEYS.join(", ")}`);
    }
    if (values.has(key)) throw contentProblem(`${place} has the attribute "${key}" twice`);
    values.set(key, value);
    token = token.slice(0, -attribute.length);
  }
  // Otherwise it would become a token that nobody has, or one without limits although its line names some.
  if (/\s/.test(token)) {
    throw contentProblem(
      `${place} has a space within the token or its attributes; write ${LINE_FORM}, without a space after a comma, ` +
        `a comment after " #", and a token with spaces in the JSON form of the file`,
    );
  }
  if (values.size > 0 && /[,;]$/.test(token)) {
    throw contentProblem(`${place} has a "${token.slice(-1)}" after the token; write ${LINE_FORM}`);
  }
  const [offices, roles] = [values.get("offices")?.split(","), values.get("roles")?.split(",")];
  return toToken({ ...Object.fromEntries(values), token, offices, roles }, place);
}

function parseEntries(text: string): ListedToken[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw contentProblem("it begins like a JSON array, and is not valid JSON");
  return list.map((entry, index) => {
    const place = `entry ${index + 1}`;
    if (!isRecord(entry)) throw contentProblem(`${place} is not an object`);
    const unknown = Object.keys(entry).find((key) => key !== "token" && !KEYS.some((known) => known === key));
    if (unknown !== undefined) {
      throw contentProblem(`${place} has an unknown key; known: token, ${KEYS.join(", ")}`);
    }
    return toToken(entry, place);
  });
}

/** @throws {FileContentError} that names `place`, and quotes no token. */
function toToken(entry: Readonly<Record<string, unknown>>, place: string): ListedToken {
  const { token } = entry;
  if (typeof token !== "string" || token === "") throw contentProblem(`${place} has no token`);
  if (token.startsWith(HASH_PREFIX) && !/^sha256:[0-9a-f]{64}$/i.test(token)) {
    throw contentProblem(`${place} begins with "${HASH_PREFIX}", and has not 64 hexadecimal digits`);
  }
  const read = <T>(key: Key, reader: (value: unknown, refuse: Refuse) => T): T | undefined => {
    if (entry[key] === undefined) return undefined;
    return reader(entry[key], (why) => {
      throw contentProblem(`${place} has an invalid "${key}": ${why}`);
    });
  };
  return {
    place,
    token,
    name: read("name", readName),
    offices: read("offices", readOffices),
    roles: read("roles", readRoles),
    expiresAtMs: read("expires", readTime),
  };
}

type Refuse = (why: string) => never;

function readName(value: unknown, refuse: Refuse): string {
  if (typeof value !== "string") return refuse("expected a text");
  const name = value.normalize("NFKC");
  const problem = nameProblem(name);
  return problem === undefined ? name : refuse(`a name ${problem}`);
}

function readOffices(value: unknown, refuse: Refuse): readonly string[] | undefined {
  if (!Array.isArray(value)) return refuse("expected a list of offices");
  return value.includes(ALL) ? undefined : value.map((office) => readName(office, refuse));
}

function readRoles(value: unknown, refuse: Refuse): readonly GrantedRole[] {
  const isList = Array.isArray(value) && value.every(isGrantedRole);
  return isList ? value : refuse("expected a list of agent, computer, observer");
}

/** A date alone ends with its day, in UTC. */
function readTime(value: unknown, refuse: Refuse): number {
  const [, date, time] = typeof value === "string" ? ISO_TIME.exec(value) ?? [] : [];
  const timeMs = date === undefined ? NaN : Date.parse(date + (time ?? "T23:59:59.999Z"));
  return Number.isNaN(timeMs) ? refuse("expected a date, or a time with its zone, in ISO 8601") : timeMs;
}
