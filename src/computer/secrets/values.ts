/** Finds the secret values among the parameters of a server, for redaction. */
import { type MCPServerConfig, oauthOf } from "../../protocol/config.ts";
import { isRecord } from "../../json/json.ts";
import { PLACEHOLDER } from "../../config/placeholders.ts";
import { maskSecretParameters } from "./owner_masking.ts";
import { isSecretName, maskServer } from "./masking.ts";
import { encodings, MIN_WORD_LENGTH, type ServerSecrets, spellings } from "./redaction.ts";

/** A masked literal, a placeholder, or several of these side by side. */
const HIDDEN = new RegExp(`(?:\\*\\*\\*|${PLACEHOLDER.source})+`, "g");
/** A name and its value, as in `key=value`, `Key: value` and `{"key":"value"}`. */
const PAIR = /([\w.-]{1,64})["']?\s{0,8}[=:]\s{0,8}["']?([^\s"',;&}]+)/g;
const PASSWORD = /:\/\/[^\s:/@]{0,256}:([^\s@]{1,4096})@/g;
const BETWEEN = /[\s"'`=;:&,?#@|<>(){}[\]]+/;
const WITHIN = /[\p{P}\p{S}]+/u;
/** A word of natural language: letters in usual capitalization with up to two digits behind, or a number. */
const PLAIN_WORD =
  /^(?:(?:\p{Lu}?[\p{Ll}\p{Lo}\p{M}]{1,24}|\p{Lu}{1,24})(?:\p{Lu}\p{Ll}{2,24}){0,5}\d{0,2}|v?\d{1,6})$/u;
/** A short name with digits inside, such as `k8s`, `a2c`, `i18n`, `4o` and `7B`. */
const NUMERONYM = /^(?:\p{L}{1,3}\d{1,2}\p{L}{1,3}|\d{1,2}\p{L}{1,2})$/u;
const LONGER_WORD = /^\p{L}{3,}\d{0,2}$/u;
/** A path from the root, a drive or home, a relative one, or the path of a `file:` URL. */
const PATH = /^(?:[~.]{0,2}[\\/](?![\\/])|\/\/\/(?!\/)|[^\\/]+[\\/](?:[^\\/]+[\\/])*[^\\/]+\.[a-z]\w{0,5}$)/i;
/** A part of a path in which capitals, small letters and digits are mixed. */
const TOKEN = /^(?=.*\p{Lu})(?=.*\p{Ll})(?=.*\d)[\w+=-]{12,}$/u;

/**
 * The secrets of one server: the values of inputs, variables (also of `env_file`) and headers, the values of secret
 * names, the secrets of its sign-in, secrets in URLs, and each word of an argument that is not a plain word, package or
 * version. A word that is a path is kept apart.
 *
 * @param written The configuration with placeholders.
 * @param resolved The same with the inputs' values in it.
 */
export function secretsOf(
  written: MCPServerConfig,
  resolved: { readonly server_parameters: object },
): ServerSecrets {
  const { server_parameters } = resolved;
  const masked: Readonly<Record<string, unknown>> = { ...maskServer(written).server_parameters };
  const { env, headers } = masked;
  const texts = textsOf(server_parameters);
  const named = [
    ...hiddenValues(maskSecretParameters(written), server_parameters),
    ...signInSecrets(written, resolved),
    ...texts.flatMap(namedSecrets),
  ];
  const values = [
    ...hiddenValues(written.server_parameters, server_parameters),
    ...hiddenValues({ env, headers }, server_parameters),
    ...addedVariables(written, server_parameters),
  ];
  const { words = [], paths = [] } = Object.groupBy(
    texts.flatMap((text) => text.split(BETWEEN)).filter((word) => !isPlain(word)),
    (word) => isPath(word) ? "paths" : "words",
  );
  const isUnusual = (value: string) =>
    unusualWords(value.split(BETWEEN).filter((word) => !isPath(word))).length > 0;
  return {
    all: formsOf([...named, ...values, ...unusualWords(words)]),
    guarded: formsOf([...named, ...values.filter(isUnusual), ...unusualWords(words)]),
    paths: unusualWords(paths),
  };
}

/** Encodings stand behind all others: of too many the last are forgotten. */
function formsOf(values: readonly string[]): string[] {
  return [...new Set([...values.flatMap(spellings), ...values.flatMap(encodings)])];
}

/** A path that the owner wrote, unless a part of it looks like a token. */
function isPath(word: string): boolean {
  return PATH.test(word) && !word.split(/[\\/.]/).some((part) => TOKEN.test(part));
}

/** The values that `env_file` has added. */
function addedVariables({ server_parameters }: MCPServerConfig, resolved: object): string[] {
  const env = "env" in resolved && isRecord(resolved.env) ? resolved.env : {};
  const known = "env" in server_parameters ? server_parameters.env ?? {} : {};
  return Object.entries(env).flatMap(([name, value]) =>
    Object.hasOwn(known, name) || typeof value !== "string" ? [] : [value]
  );
}

/** The credentials of the client and of its user, and whatever a placeholder stood for. */
function signInSecrets(written: MCPServerConfig, resolved: object): string[] {
  const oauth = "oauth" in resolved && isRecord(resolved.oauth) ? resolved.oauth : {};
  const { clientSecret, privateKey, assertion, identityProvider } = oauth;
  const provider = isRecord(identityProvider) ? identityProvider : {};
  const credentials = [clientSecret, privateKey, assertion, provider["clientSecret"], provider["idToken"]]
    .filter((value) => typeof value === "string");
  return [...credentials, ...hiddenValues(oauthOf(written), oauth)];
}

/** Arguments, variables, headers and the URL, after resolution. */
function textsOf(parameters: object): string[] {
  const { args, url, env, headers }: Readonly<Record<string, unknown>> = { ...parameters };
  const values = [args, env, headers].flatMap((some) =>
    some === null || typeof some !== "object" ? [] : Object.values(some)
  );
  return [...values, url].filter((text) => typeof text === "string");
}

function namedSecrets(text: string): string[] {
  const paired = [...text.matchAll(PAIR)].filter(([, name = ""]) => isSecretName(name));
  const passwords = [...text.matchAll(PASSWORD)].flatMap(([, password = ""]) => [password]);
  return [...paired.map(([, , value = ""]) => value), ...passwords];
}

/** The words that are not plain, and their parts. */
function unusualWords(words: readonly string[]): string[] {
  return words.flatMap((word) => [word, ...word.split(WITHIN)])
    .filter((word) => word.length >= MIN_WORD_LENGTH && !isPlain(word));
}

/** Whether a word consists of plain words, and of no more short ones with digits, such as `k8s`, than of longer words. */
function isPlain(word: string): boolean {
  const others = word.split(WITHIN).filter((part) => part !== "" && !PLAIN_WORD.test(part));
  if (others.length === 0) return true;
  const wordCount = word.split(WITHIN).filter((part) => LONGER_WORD.test(part)).length;
  return others.length <= wordCount && others.every((part) => NUMERONYM.test(part));
}

/** The values in `resolved` at the places that `template` masks; both have the same shape. */
function hiddenValues(template: unknown, resolved: unknown): string[] {
  if (typeof template === "string" && typeof resolved === "string") return hiddenParts(template, resolved);
  if (Array.isArray(template) && Array.isArray(resolved)) {
    return template.flatMap((item, index) => hiddenValues(item, resolved[index]));
  }
  if (!isRecord(template) || !isRecord(resolved)) return [];
  return Object.entries(template).flatMap(([key, item]) => hiddenValues(item, resolved[key]));
}

function hiddenParts(template: string, resolved: string): string[] {
  const literals = template.split(HIDDEN);
  if (literals.length === 1) return [];
  const [, ...parts] = new RegExp(`^${literals.map(RegExp.escape).join("([^]*?)")}$`).exec(resolved) ?? [];
  return parts;
}
