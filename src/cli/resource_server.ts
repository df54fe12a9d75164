/** The options by which MCP clients over HTTP are admitted with tokens of an identity provider. */
import { InvalidArgumentError, Option } from "commander";
import type { JwtAccess, JwtAccessOptions } from "../http/mcp/jwt_access.ts";
import { CALL_SCOPE, READ_SCOPE } from "../http/mcp/resource_server.ts";
import { DEFAULT_CLOCK_TOLERANCE_MS } from "../jwt/bounds.ts";
import type { Logger } from "../log.ts";
import { ACCESS_RIGHTS } from "../protocol/rights.ts";
import { isLoopback } from "../protocol/server_address.ts";
import { collect, parseMilliseconds } from "./options.ts";
import { UsageError } from "./outcome.ts";

type Named = Omit<JwtAccessOptions, "algorithms" | "logger">;

/** Each option of {@linkcode JwtAccess} has a flag of its name after `--oauth-`. */
export type ResourceServerOptions =
  & { readonly [Name in keyof Named as `oauth${Capitalize<Name>}`]?: Named[Name] }
  & { readonly oauthAlgorithm?: readonly string[]; readonly publicUrl?: string };

/** Options with a text that is passed on as it is: the flag without its dashes, what it takes, and its help. */
const TEXTS = [
  ["oauth-principal-claim", "claim", "the claim that says whose token it is (default: sub)"],
  ["oauth-offices-claim", "claim", "the claim with the offices, * for all (default: a2c_offices)"],
  [
    "oauth-computers-claim",
    "claim",
    "the claim with the Computers that the client may see (default: a2c_computers)",
  ],
  [
    "oauth-rights-claim",
    "claim",
    "the claim with the most that the client may do: read, confirm or call (default: a2c_rights)",
  ],
  ["oauth-read-scope", "scope", `the scope to read (default: ${READ_SCOPE})`],
  ["oauth-call-scope", "scope", `the scope to call tools as well (default: ${CALL_SCOPE})`],
] as const;

/**
 * Makes the options, but for `--public-url`. Their variables begin with `prefix`, such as `A2C_GATEWAY`. Declared anew for
 * each program: commander keeps the state of a command line in them.
 */
export function resourceServerOptions({ prefix }: { readonly prefix: string }): Option[] {
  const texts = TEXTS.map(([name, value, help]) => new Option(`--${name} <${value}>`, help));
  const options = [
    new Option(
      "--oauth-issuer <url>",
      "admit MCP clients with access tokens of this identity provider, each for the URL of one path",
    ).argParser(parseIssuer),
    new Option("--oauth-jwks-url <url>", "the keys of that issuer (default: those that its metadata names)"),
    new Option("--oauth-algorithm <name>", "an accepted algorithm; repeatable (default: those of the keys)")
      .argParser(collect),
    ...texts,
    new Option(
      "--oauth-default-offices <office>",
      "an office of a token without that claim, * for all; repeatable (default: none)",
    ).argParser(collect),
    new Option(
      "--oauth-default-rights <rights>",
      "what a token without these scopes allows; clients are then asked for no scope (default: nothing)",
    ).choices(ACCESS_RIGHTS),
    new Option(
      "--oauth-clock-tolerance-ms <ms>",
      `how far the clock of the issuer may differ (default: ${DEFAULT_CLOCK_TOLERANCE_MS})`,
    ).argParser(parseMilliseconds),
    new Option("--oauth-allow-http", "fetch the keys without TLS, also from another machine"),
  ];
  for (const option of options) {
    // A variable of a switch would count whatever it says.
    const hasValue = option.required || option.optional;
    if (hasValue) option.env(`${prefix}_${option.name().replaceAll("-", "_").toUpperCase()}`);
  }
  return options;
}

/**
 * Opens what verifies tokens of the identity provider; `undefined` without `--oauth-issuer`.
 *
 * @throws {UsageError} for options that have no effect, or contradict each other.
 */
export async function openResourceServer(
  options: ResourceServerOptions,
  logger: Logger,
): Promise<JwtAccess | undefined> {
  const { oauthIssuer: issuer, publicUrl } = options;
  if (issuer === undefined) {
    const useless = Object.entries(options).find(([name, value]) =>
      name.startsWith(PREFIX) && value !== undefined
    );
    if (useless === undefined) return undefined;
    const flag = useless[0].replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`Cannot use --${flag}: no identity provider is named; add --oauth-issuer`);
  }
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url !== undefined && url.protocol !== "https:" && !isLoopback(url.hostname)) {
    throw new UsageError(
      `Cannot use --oauth-issuer at "${publicUrl}": anybody on the way could read the tokens; give a --public-url with https`,
    );
  }
  const { JwtAccess } = await import("../http/mcp/jwt_access.ts");
  try {
    return await JwtAccess.open({
      ...namedOf(options),
      issuer,
      algorithms: options.oauthAlgorithm,
      logger,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function namedOf(options: ResourceServerOptions): Partial<Named> {
  return Object.fromEntries(
    Object.entries(options).filter(([option]) => option.startsWith(PREFIX)).map(([option, value]) => {
      const [first = "", ...rest] = option.slice(PREFIX.length);
      return [first.toLowerCase() + rest.join(""), value];
    }),
  );
}

const PREFIX = "oauth";

/** Tokens are for URLs below this one, so it has one spelling. */
export function parsePublicUrl(raw: string): string {
  const url = URL.parse(raw);
  const isOrigin = url !== null && (url.protocol === "https:" || url.protocol === "http:") &&
    (raw === url.origin || raw === `${url.origin}/`);
  if (isOrigin) return url.origin;
  throw new InvalidArgumentError("Expected an origin such as https://hub.example.com, without a path");
}

/** An issuer is compared as it is written, so that it stays as it is given. */
function parseIssuer(raw: string): string {
  const url = URL.parse(raw);
  if (url !== null && url.search === "" && url.hash === "") return raw;
  throw new InvalidArgumentError("Expected the URL of an issuer, such as https://login.example.com");
}
