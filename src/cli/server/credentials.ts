/** The options of the Server's program that say which clients are admitted. */
import type { Command } from "commander";
import { dirname, resolve } from "@std/path";
import { trustProblem } from "../../files/files.ts";
import { permitted } from "../../files/state_folder.ts";
import type { Logger } from "../../log.ts";
import { didYouMean } from "../../text/spelling.ts";
import { anyOf, type AuthProvider, GRANTED_ROLES, isGrantedRole } from "../../server/admission/provider.ts";
import type { TokenValue } from "../../api_values.ts";
import { flagOf, isOptionName, variableOf } from "../../server/options/checks.ts";
import { JWT_ROWS } from "../../server/options/credential_rows.ts";
import type { AcceptedToken, AcceptedTokens } from "../../server/admission/tokens.ts";
import type { OptionName } from "../../server/options/table.ts";
import { UsageError } from "../outcome.ts";
import type { OptionValues } from "./options.ts";

const JWT_SOURCES = ["jwtSecret", "jwtSecretFile", "jwtKeyFile", "jwtJwksUrl"] as const;
const JWT_VARIABLES = "A2C_JWT_";

/**
 * Refuses options of JWT that would have no effect: the Server would run without the credentials that they ask for.
 *
 * @param program Its options are complete.
 * @param variables The names of the environment variables.
 * @throws {UsageError} for an unknown variable `A2C_JWT_…`, and for an option of JWT without a source of keys.
 */
export function checkJwtOptions(program: Command, variables: readonly string[]): void {
  const names = Object.keys(JWT_ROWS).filter(isOptionName);
  const known = names.map(variableOf);
  const unknown = variables.find((name) => name.startsWith(JWT_VARIABLES) && !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Cannot use environment variable ${unknown}: unknown option${didYouMean(unknown, known)}`,
    );
  }
  if (JWT_SOURCES.some((name) => program.getOptionValue(name) !== undefined)) return;
  const isGiven = (name: OptionName) => {
    const source = program.getOptionValueSource(name);
    return source !== undefined && source !== "default" && !isBlank(program.getOptionValue(name));
  };
  const useless = names.find(isGiven);
  if (useless === undefined) return;
  throw new UsageError(
    `Cannot use ${flagOf(useless)}: JWTs need keys; add --jwt-secret-file, --jwt-key-file or --jwt-jwks-url`,
  );
}

/** Whether a value is the one of an empty variable, or of a switch that is off. */
function isBlank(value: unknown): boolean {
  return value === false || value === "" || (Array.isArray(value) && value.length === 0);
}

/** The tokens of an option, as {@linkcode showTokens} shows them. */
export interface ShownTokens {
  readonly tokens: readonly TokenValue[];
  readonly problem: string | undefined;
}

export function toShownTokens({ accepted, problem }: AcceptedTokens, kind: TokenValue["kind"]): ShownTokens {
  return { tokens: accepted.map((token) => toTokenValue(token, kind)), problem };
}

function toTokenValue({ listed, admission }: AcceptedToken, kind: TokenValue["kind"]): TokenValue {
  const { principal: name, grant: { offices = null, roles = null } = {}, expiresAtMs } = admission;
  const expires = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
  const { computers = null, rights = kind === "client" ? "call" : null } = listed;
  const expired = (expiresAtMs ?? Infinity) <= Date.now();
  return { name, kind, offices, roles, computers, rights, expires, expired };
}

/** Warns of a file that says who is admitted, and that every user can change or replace. */
export async function warnOfOpenFile(option: string, path: string, logger: Logger): Promise<void> {
  // Where the folder must not be read, the file is not looked at either: Deno would ask for the permission.
  const problem = permitted("read", dirname(resolve(path))) && await trustProblem(path);
  if (problem !== undefined) logger.warn(`${option}: ${problem}`, { file: path });
}

export interface OpenedAuth extends AsyncDisposable {
  readonly auth: AuthProvider | undefined;
  readonly tokens: () => Promise<readonly ShownTokens[]>;
}

/** Refuses tokens of an option, by {@linkcode contentProblem}, that another option has. */
export type ClaimTokens = (
  option: string,
  tokens: readonly { readonly token: string; readonly place: string }[],
) => void;

/** The least characters of a token that nobody guesses from another machine: 16 random ones take years. */
const MIN_TOKEN_LENGTH = 16;

/** Warns of tokens that can be guessed, at the start and when a file changes. */
export function warnOfShort(claim: ClaimTokens, logger: Logger): ClaimTokens {
  return (option, tokens) => {
    claim(option, tokens);
    const [short, ...others] = tokens.filter(({ token }) => token.length < MIN_TOKEN_LENGTH);
    if (short === undefined) return;
    const more = others.length === 0 ? {} : { others: others.length };
    logger.warn(SHORT, { option, place: short.place, ...more });
  };
}

const SHORT =
  `a token has less than ${MIN_TOKEN_LENGTH} characters, and whoever reaches this address can try to guess it; ` +
  "take a long random text";

export async function openAuth(
  options: OptionValues,
  logger: Logger,
  claim: ClaimTokens,
): Promise<OpenedAuth> {
  await using opening = new AsyncDisposableStack();
  try {
    const providers: AuthProvider[] = [];
    for (const open of [openTokens, openJwt]) {
      const provider = await open(options, logger, claim);
      if (provider === undefined) continue;
      opening.defer(async () => await provider[Symbol.asyncDispose]?.());
      providers.push(provider);
    }
    const opened = opening.move();
    return {
      auth: providers.length > 1 ? anyOf(providers) : providers[0],
      async tokens() {
        const { acceptedBy } = await import("../../server/admission/tokens.ts");
        return providers.map((provider) => toShownTokens(acceptedBy(provider), "member"));
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    throw await toUsageError(error);
  }
}

/** Returns a `UsageError` for an option or a file that cannot be used, and any other error as it is. */
export async function toUsageError(error: unknown): Promise<unknown> {
  // Loaded only now, so that --help and a wrong command line are fast.
  const { FileContentError } = await import("../../files/watched_files.ts");
  const isMisuse = error instanceof TypeError || error instanceof RangeError ||
    error instanceof FileContentError;
  return isMisuse ? new UsageError(error.message, { cause: error }) : error;
}

async function openTokens(
  { token: tokens, tokenFile, authField: field, authHeader: header }: OptionValues,
  logger: Logger,
  claim: ClaimTokens,
): Promise<AuthProvider & Partial<AsyncDisposable> | undefined> {
  if (tokens === undefined && tokenFile === undefined) return undefined;
  if (tokens?.includes("")) {
    throw new UsageError("Cannot use --token (A2C_TOKEN): it is empty; give a token, or unset the variable");
  }
  // Loaded only now, so that --help and a wrong command line are fast.
  const { staticTokens, TokenFile } = await import("../../server/admission/tokens.ts");
  if (tokenFile !== undefined) await warnOfOpenFile("--token-file", tokenFile, logger);
  claim("--token", (tokens ?? []).map((token) => ({ token, place: "--token" })));
  if (tokenFile === undefined) return staticTokens({ field, header, tokens: tokens ?? [] });
  const check = (listed: Parameters<ClaimTokens>[1]) => claim("--token-file", listed);
  return await TokenFile.open(tokenFile, { field, header, tokens, check, logger });
}

async function openJwt(
  options: OptionValues,
  logger: Logger,
): Promise<AuthProvider & Partial<AsyncDisposable> | undefined> {
  if (JWT_SOURCES.every((name) => options[name] === undefined)) return undefined;
  const { jwtSecret, jwtSecretFile, jwtKeyFile, jwtJwksUrl } = options;
  const unknown = options.jwtDefaultRoles?.find((role) => !isGrantedRole(role));
  if (unknown !== undefined) {
    throw new UsageError(
      `Cannot use role "${unknown}" of --jwt-default-roles: not ${GRANTED_ROLES.join(", ")}`,
    );
  }
  const { JwtTokens } = await import("../../server/admission/jwt.ts");
  return await JwtTokens.open({
    secret: jwtSecret,
    secretFile: jwtSecretFile,
    publicKeyFile: jwtKeyFile,
    jwksUrl: jwtJwksUrl,
    issuer: options.jwtIssuer,
    audience: options.jwtAudience,
    algorithms: options.jwtAlgorithm,
    principalClaim: options.jwtPrincipalClaim,
    officesClaim: options.jwtOfficesClaim,
    rolesClaim: options.jwtRolesClaim,
    defaultOffices: options.jwtDefaultOffices,
    defaultRoles: options.jwtDefaultRoles?.filter(isGrantedRole),
    clockToleranceMs: options.jwtClockToleranceMs,
    allowHttp: options.jwtAllowHttp,
    field: options.authField,
    header: options.authHeader,
    logger,
  });
}
