/** The options of the Server's program that say which clients are admitted. */
import type { Command, Option } from "commander";
import type { Logger } from "../../log.ts";
import { didYouMean } from "../../spelling.ts";
import {
  anyOf,
  type AuthProvider,
  DEFAULT_TOKEN_FIELD,
  DEFAULT_TOKEN_HEADERS,
} from "../../server/admission/provider.ts";
import { GRANTED_ROLES, type GrantedRole, isGrantedRole } from "../../server/admission/grant.ts";
import {
  DEFAULT_CLOCK_TOLERANCE_MS,
  DEFAULT_OFFICES_CLAIM,
  DEFAULT_ROLES_CLAIM,
} from "../../server/admission/jwt_claims.ts";
import { FileContentError } from "../../server/admission/watched_files.ts";
import { collect } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { option, Switch, timeOrNone, words } from "./option_kinds.ts";

export interface TokenOptions {
  readonly token?: readonly string[];
  readonly tokenFile?: string;
  readonly authField: string;
  readonly authHeader?: readonly string[];
  readonly jwtSecret?: string;
  readonly jwtSecretFile?: string;
  readonly jwtKeyFile?: string;
  readonly jwtJwksUrl?: string;
  readonly jwtIssuer?: readonly string[];
  readonly jwtAudience?: readonly string[];
  readonly jwtAlgorithm?: readonly string[];
  readonly jwtPrincipalClaim: string;
  readonly jwtOfficesClaim: string;
  readonly jwtRolesClaim: string;
  readonly jwtDefaultOffices?: readonly string[];
  readonly jwtDefaultRoles?: readonly GrantedRole[];
  readonly jwtClockTolerance: number;
  readonly jwtAllowHttp?: boolean;
}

/** `--token`, `--token-file`, and where clients put their token. */
export function tokenOptions(): readonly Option[] {
  return [
    option("--token <token>", "accept clients with this token; repeatable").argParser(collect),
    option(
      "--token-file <file>",
      "accept the tokens in this file, one per line, each with the offices and roles that it may use; " +
        "read again when it changes",
    ),
    option("--auth-field <name>", "the auth field that carries the token").default(DEFAULT_TOKEN_FIELD),
    words(
      "--auth-header <name...>",
      "the HTTP headers that carry the token of clients without that field " +
        `(default: ${DEFAULT_TOKEN_HEADERS.join(" ")})`,
    ),
  ];
}

export function jwtOptions(): readonly Option[] {
  return [
    option("--jwt-secret <secret>", "accept JWTs that are signed with this secret of at least 32 bytes"),
    option("--jwt-secret-file <file>", "accept JWTs that are signed with a secret in this file"),
    option("--jwt-key-file <file>", "accept JWTs of a public key in this file: PEM, JWK or a set of JWKs"),
    option(
      "--jwt-jwks-url <url>",
      "accept JWTs of a key in the set at this URL; needs issuer and audience",
    ),
    words("--jwt-issuer <issuer...>", "the issuers of accepted JWTs"),
    words("--jwt-audience <audience...>", "the audiences, one of which a JWT must have"),
    words(
      "--jwt-algorithm <name...>",
      "the accepted algorithms (default: HS256 for a secret, else those of the keys)",
    ),
    option("--jwt-principal-claim <name>", "the claim with the name of the client").default("sub"),
    option("--jwt-offices-claim <name>", "the claim with the offices that it may join, * for all")
      .default(DEFAULT_OFFICES_CLAIM),
    option("--jwt-roles-claim <name>", "the claim with the roles that it may have")
      .default(DEFAULT_ROLES_CLAIM),
    words(
      "--jwt-default-offices <office...>",
      "the offices of a JWT without that claim, * for all (default: none)",
    ),
    words(
      "--jwt-default-roles <role...>",
      `the roles of a JWT without that claim (default: ${GRANTED_ROLES.join(" ")})`,
    ),
    timeOrNone("--jwt-clock-tolerance <ms>", "how far the clock of the issuer may differ")
      .default(DEFAULT_CLOCK_TOLERANCE_MS),
    new Switch("--jwt-allow-http", "fetch the set of keys without TLS, also from another machine"),
  ];
}

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
  const options = jwtOptions();
  const known = options.map((option) => option instanceof Switch ? option.variable : option.envVar ?? "");
  const unknown = variables.find((name) => name.startsWith(JWT_VARIABLES) && !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Cannot use environment variable ${unknown}: unknown option${didYouMean(unknown, known)}`,
    );
  }
  if (JWT_SOURCES.some((name) => program.getOptionValue(name) !== undefined)) return;
  const isGiven = (option: Option) => {
    const source = program.getOptionValueSource(option.attributeName());
    return source !== undefined && source !== "default" &&
      !isBlank(program.getOptionValue(option.attributeName()));
  };
  const useless = options.find(isGiven);
  if (useless === undefined) return;
  throw new UsageError(
    `Cannot use ${useless.long}: JWTs need keys; add --jwt-secret-file, --jwt-key-file or --jwt-jwks-url`,
  );
}

/** Whether a value is the one of an empty variable, or of a switch that is off. */
function isBlank(value: unknown): boolean {
  return value === false || value === "" || (Array.isArray(value) && value.length === 0);
}

export interface OpenedAuth extends AsyncDisposable {
  readonly auth: AuthProvider | undefined;
}

export async function openAuth(options: TokenOptions, logger: Logger): Promise<OpenedAuth> {
  await using opening = new AsyncDisposableStack();
  try {
    const providers: AuthProvider[] = [];
    for (const open of [openTokens, openJwt]) {
      const provider = await open(options, logger);
      if (provider === undefined) continue;
      opening.defer(async () => await provider[Symbol.asyncDispose]?.());
      providers.push(provider);
    }
    const opened = opening.move();
    return {
      auth: providers.length > 1 ? anyOf(providers) : providers[0],
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    if (!(error instanceof FileContentError || error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

async function openTokens(
  { token: tokens, tokenFile, authField: field, authHeader: header }: TokenOptions,
  logger: Logger,
): Promise<AuthProvider & Partial<AsyncDisposable> | undefined> {
  if (tokens === undefined && tokenFile === undefined) return undefined;
  if (tokens?.includes("")) {
    throw new UsageError("Cannot use --token (A2C_TOKEN): it is empty; give a token, or unset the variable");
  }
  // Loaded only now, so that --help and a wrong command line are fast.
  const { staticTokens, TokenFile } = await import("../../server/admission/tokens.ts");
  if (tokenFile === undefined) return staticTokens({ field, header, tokens: tokens ?? [] });
  return await TokenFile.open(tokenFile, { field, header, tokens, logger });
}

async function openJwt(
  options: TokenOptions,
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
    defaultRoles: options.jwtDefaultRoles,
    clockToleranceMs: options.jwtClockTolerance,
    allowHttp: options.jwtAllowHttp,
    field: options.authField,
    header: options.authHeader,
    logger,
  });
}
