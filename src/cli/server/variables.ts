/** Environment variables that nobody reads, and that somebody may have meant for the Server. */
import type { Command } from "commander";
import { closestWord } from "../../text/spelling.ts";
import { UsageError } from "../outcome.ts";
import { ServerOption } from "./options.ts";

export const CLIENT_VARIABLES: readonly string[] = [
  "A2C_AUTH",
  "A2C_CA_FILE",
  "A2C_COMPUTER",
  "A2C_CONFIG",
  "A2C_CONNECT_TIMEOUT",
  "A2C_DPE_FILES",
  "A2C_GATEWAY_HTTP",
  "A2C_GATEWAY_TOKEN",
  "A2C_GATEWAY_TOKEN_FILE",
  "A2C_HEADER",
  "A2C_INPUTS",
  "A2C_NAME",
  "A2C_NAME_LENGTH",
  "A2C_OFFICE",
  "A2C_PROTOCOL",
  "A2C_START_TIMEOUT",
  "A2C_STATE",
  "A2C_TOKEN_COMMAND",
  "A2C_TOOLS",
  "A2C_UPLOADS",
  "A2C_URL",
];
const PREFIX = "A2C_";
/** The beginning of the variables with the values of inputs, whose names are the user's. */
const INPUT_PREFIX = "A2C_INPUT_";
/** The beginnings of the variables of TLS, credentials, Redis and the audit trail. */
const PROTECTING = /^A2C_(?:TLS|TOKEN|AUTH|METRICS_TOKEN|REDIS|AUDIT)_/;
/** The most letters of a slip in the name of such a variable; more may be a variable of somebody else. */
const MAX_SLIP = 2;
/** Variables that Kubernetes and Docker set for a service such as `a2c-redis`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;

/**
 * Reports the variables that are read by no program and have nearly the name of one that the Server reads.
 *
 * @throws {UsageError} for one of TLS, credentials, Redis or the audit trail: the Server would run without them.
 */
export function misspeltVariables(program: Command, variables: readonly string[]): readonly string[] {
  const known = program.options.flatMap((option) =>
    option instanceof ServerOption ? [option.variable] : option.envVar ?? []
  );
  const unread = variables.filter((name) =>
    name.startsWith(PREFIX) && !name.startsWith(INPUT_PREFIX) && !SERVICE_LINK.test(name) &&
    !known.includes(name) && !CLIENT_VARIABLES.includes(name)
  );
  // `A2C_PORT` is no variable, and `PORT` is one.
  const spellings = new Map(known.map((name) => [name.startsWith(PREFIX) ? name : PREFIX + name, name]));
  for (const name of unread) requireHarmless(name, [...spellings.keys()]);
  return unread.flatMap((name) => {
    const meant = relatedName(name, [...spellings.keys()]) ?? closestWord(name, spellings.keys());
    if (meant === undefined) return [];
    return [`environment variable ${name} has no effect; did you mean ${spellings.get(meant)}?`];
  });
}

/** Refuses a variable that is nearly one that protects the Server. */
function requireHarmless(name: string, known: readonly string[]): void {
  // A variable `A2C_REDIS_PORT` is also one that Kubernetes sets for a service `a2c-redis`.
  if (/^A2C_\w+_PORT$/.test(name)) return;
  const meant = relatedName(name, known, "_") ?? closestWord(name, known, { maxDistance: MAX_SLIP });
  const family = meant === undefined ? PROTECTING.exec(name)?.[0] : undefined;
  if (family === undefined && !PROTECTING.test(`${meant ?? ""}_`)) return;
  const hint = family === undefined
    ? `did you mean "${meant}"?`
    : `known: ${known.filter((each) => `${each}_`.startsWith(family)).join(", ")}`;
  throw new UsageError(`Cannot use environment variable ${name}: unknown option; ${hint}`);
}

/** The longest known name with which this one begins, or else the first one that begins with this one. */
function relatedName(name: string, known: readonly string[], separator = ""): string | undefined {
  const beginnings = known.filter((each) => name.startsWith(each + separator));
  const longest = beginnings.toSorted((a, b) => b.length - a.length)[0];
  return longest ?? known.find((each) => each.startsWith(`${name}_`));
}
