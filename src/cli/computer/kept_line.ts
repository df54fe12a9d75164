/** Decides which lines the history of the prompt keeps: none that may contain a secret. */
import { splitWords } from "../../terminal/words.ts";
import { isSecretName } from "../../computer/secrets/masking.ts";

/** Options whose values are usually secrets. */
const SECRET_OPTION = /^(?:--(?:token|auth|headers?|env|params)|-[eHpPu])$/;
/** The command that takes a program with its arguments, or JSON. */
const ADDING = "server add";

/** Whether the history keeps a line; when in doubt it does not. */
export function isKeptLine(line: string): boolean {
  const words = wordsOf(line);
  const [first, second, ...rest] = words.filter((word) => !word.startsWith("--"));
  if (first === "input" && second === "set" && rest.length > 1) return false;
  // A config entry as JSON.
  if (`${first} ${second}` === ADDING && rest.some((word) => word.startsWith("{"))) return false;
  return !hasSecretMember(line) &&
    !words.some((word, i) => isSecret(word) || isSecretNamed(word, words[i + 1]) || hasSecretMember(word));
}

/** A URL with a password or a query, alone or after `NAME=`. */
function isSecret(word: string): boolean {
  const scheme = word.search(/\b(?:https?|wss?|[a-z]{1,20}(?:\+[a-z]{1,20})?):\/\//);
  if (scheme < 0) return false;
  const rest = word.slice(word.indexOf("://", scheme) + 3);
  return rest.includes("?") || rest.split("/", 1)[0]?.includes("@") === true || /:[^/]*\/.*@/.test(rest);
}

/** `--api-key VALUE`, `--api-key=VALUE`, `api-key=VALUE` and, within one word, `user=a pass=VALUE`. */
function isSecretNamed(word: string, next: string | undefined): boolean {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const isNamed = SECRET_OPTION.test(name) || isSecretName(name) && /^[\w.-]+$/.test(name);
  return isNamed && (cut >= 0 || name.startsWith("-") && next !== undefined);
}

/** A JSON member, an HTTP header, or one of several pairs in a word, whose name is that of a secret. */
function hasSecretMember(word: string): boolean {
  return [...word.matchAll(/([\w.-]{1,64})["']?\s{0,8}[=:](?!\/\/)/g)].some(([, name = ""]) =>
    isSecretName(name)
  );
}

/** Splits a line; one with an unclosed quote is split roughly, since the user may correct and run it later. */
function wordsOf(line: string): string[] {
  try {
    return splitWords(line);
  } catch {
    return line.trim().split(/[\s'"]+/);
  }
}
