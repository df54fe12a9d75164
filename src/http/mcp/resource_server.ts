/** Clients with OAuth: what they read before they have a token (RFC 9728), and how they are asked for one, or for more. */
import type { LogFields } from "../../log.ts";
import { RESOURCE_METADATA_PATH } from "../../protocol/oauth.ts";
import { MAX_TOKEN_LENGTH } from "../../jwt/bounds.ts";
import { describeError } from "../../text/text.ts";
import { readBearer } from "../tokens.ts";
import { type Access, AccessRefusal, type AccessRule, refuseToken } from "./access.ts";

/** What a client asks for: to read, and to call tools as well. */
export const READ_SCOPE = "a2c:read";
export const CALL_SCOPE = "a2c:call";
export const SCOPES: readonly string[] = [READ_SCOPE, CALL_SCOPE];

/** What a token allows. */
export interface TokenAccess {
  readonly access: Access;
  /** Whether its client may get one that allows more. */
  readonly mayGrow: boolean;
}

/** Why a token is refused. */
export interface TokenRefusal {
  /** What the client is told. */
  readonly refused: string;
  /** `scope` when a token with other scopes would do, `forbidden` when none would; by default another token may. */
  readonly lacks?: "scope" | "forbidden" | undefined;
  /** Further fields of the line in the log. */
  readonly log?: LogFields | undefined;
}

/** Finds what the tokens of an authorization server allow. */
export interface TokenVerifier {
  /** The issuer, from which clients get tokens. */
  readonly issuer: string;
  /** The scopes that its clients ask for; the rights to read and to call by default. */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Decides on one token. May reject while it cannot decide.
   *
   * @param resource The canonical URL of the path, which the audience of the token must equal.
   */
  verify(
    token: string,
    resource: string,
    signal: AbortSignal,
  ): Promise<TokenAccess | TokenRefusal>;
}

/**
 * Makes the rule that admits clients with tokens of these authorization servers. A token is refused as the last of them
 * refuses it.
 */
export function protectResource(verifiers: readonly [TokenVerifier, ...TokenVerifier[]]): AccessRule {
  const scopes = [...new Set(verifiers.flatMap((each) => each.scopes ?? SCOPES))];
  return {
    metadata: (resource) => ({
      resource,
      authorization_servers: verifiers.map(({ issuer }) => issuer),
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ["header"],
      resource_name: "A2C-SMCP office",
    }),
    async admit(request, resource) {
      const challenge = (error?: string, description?: string) =>
        challengeOf({ resource, scopes, error, description });
      const token = readBearer(request.headers.get("authorization"));
      if (token === undefined) return refuseToken("missing", challenge());
      if (token.length > MAX_TOKEN_LENGTH) {
        return refuse({ refused: "the token is too long" }, challenge);
      }
      const answer = await verifyAny(verifiers, { token, resource, signal: request.signal });
      if (answer instanceof AccessRefusal) return answer;
      if ("refused" in answer) return refuse(answer, challenge);
      const { access, mayGrow } = answer;
      return mayGrow ? { ...access, challenge: () => askForMore(challenge) } : access;
    },
  };
}

type Challenge = (error?: string, description?: string) => string;

/** The value of `WWW-Authenticate` (RFC 6750, RFC 9728). Its texts are our own, and have no quotation marks. */
function challengeOf(
  { resource, scopes, error, description }: {
    readonly resource: string;
    readonly scopes: readonly string[];
    readonly error: string | undefined;
    readonly description: string | undefined;
  },
): string {
  const { origin, pathname } = new URL(resource);
  const parameters = {
    realm: "a2c-smcp",
    resource_metadata: `${origin}${RESOURCE_METADATA_PATH}${pathname}`,
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
    error,
    error_description: description?.replaceAll(/["\\]/g, "'"),
  };
  const written = Object.entries(parameters)
    .flatMap(([name, value]) => value === undefined ? [] : [`${name}="${value}"`]);
  return `Bearer ${written.join(", ")}`;
}

async function verifyAny(
  verifiers: readonly TokenVerifier[],
  { token, resource, signal }: {
    readonly token: string;
    readonly resource: string;
    readonly signal: AbortSignal;
  },
): Promise<TokenAccess | TokenRefusal | AccessRefusal> {
  let refusal: TokenRefusal = { refused: "wrong token" };
  let failure: AccessRefusal | undefined;
  for (const verifier of verifiers) {
    try {
      const answer = await verifier.verify(token, resource, signal);
      if ("access" in answer) return answer;
      refusal = answer;
    } catch (error) {
      failure = undecided(error);
    }
  }
  // The token may be of the one that cannot decide.
  return failure ?? refusal;
}

function refuse({ refused, lacks, log = {} }: TokenRefusal, challenge: Challenge): AccessRefusal {
  const message = `Cannot serve this request: ${refused}`;
  const line = { ...log, reason: refused };
  if (lacks === "forbidden") return new AccessRefusal(403, { message, log: line });
  return lacks === "scope"
    ? new AccessRefusal(403, { message, challenge: challenge("insufficient_scope", refused), log: line })
    : new AccessRefusal(401, { message, challenge: challenge("invalid_token", refused), log: line });
}

function askForMore(challenge: Challenge): AccessRefusal {
  const refused = "the tool may modify something, and the token is for reading alone";
  return refuse({ refused, lacks: "scope" }, challenge);
}

/** The client may try again. */
function undecided(error: unknown): AccessRefusal {
  const refusal = new AccessRefusal(503, {
    message: "Cannot serve this request: its token cannot be verified now. Try again later",
    log: { reason: "the token cannot be verified", error: describeError(error) },
  });
  refusal.headers.set("retry-after", "5");
  return refusal;
}
