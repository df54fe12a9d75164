/** What the access tokens of an identity provider allow: JWTs, whose audience is one path. */
import type { Logger } from "../../log.ts";
import { findClaim, isPrincipal, isTextOrList, namesIn, shownClaim } from "../../jwt/claims.ts";
import { MAX_TOKEN_LENGTH } from "../../jwt/bounds.ts";
import { JwtVerifier } from "../../jwt/verifier.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../../protocol/rights.ts";
import type { Access } from "./access.ts";
import {
  CALL_SCOPE,
  READ_SCOPE,
  type TokenAccess,
  type TokenRefusal,
  type TokenVerifier,
} from "./resource_server.ts";

/** The names of claims and scopes, and what counts where one is absent. */
export interface JwtClaimOptions {
  /** The claim that says whose token it is; `sub` by default. */
  readonly principalClaim?: string | undefined;
  /** The claim with the offices, a text or a list, `*` for all; `a2c_offices` by default. A path such as `app.offices` is read as well. */
  readonly officesClaim?: string | undefined;
  /** The claim with the Computers, a text or a list, `*` for all; `a2c_computers` by default. Without it, all. */
  readonly computersClaim?: string | undefined;
  /** The claim with the most that the client may do, whatever its scopes say: `read`, `confirm` or `call`; `a2c_rights` by default. */
  readonly rightsClaim?: string | undefined;
  /** The claim of people who may let clients in: the offices for which they may, a text or a list, `*` for all. By default nobody may. */
  readonly operatorClaim?: string | undefined;
  /** The scope to read, in the claim `scope` or `scp`; `a2c:read` by default. */
  readonly readScope?: string | undefined;
  /** The scope to call tools as well; `a2c:call` by default. */
  readonly callScope?: string | undefined;
  /** The offices of a token without that claim, `*` for all; none by default. */
  readonly defaultOffices?: readonly string[] | undefined;
  /** The rights of a token with neither scope. With them, clients are asked for no scope. */
  readonly defaultRights?: AccessRights | undefined;
}

export interface JwtAccessOptions extends JwtClaimOptions {
  /** The issuer, whose metadata names its keys. */
  readonly issuer: string;
  /** Where the keys are, for an issuer without metadata. */
  readonly jwksUrl?: string | undefined;
  readonly algorithms?: readonly string[] | undefined;
  readonly clockToleranceMs?: number | undefined;
  readonly allowHttp?: boolean | undefined;
  readonly logger?: Logger | undefined;
}

/** Verifies tokens of an identity provider. */
export class JwtAccess implements TokenVerifier, AsyncDisposable {
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly #options: JwtAccessOptions;
  readonly #verifier: JwtVerifier;

  private constructor(options: JwtAccessOptions, verifier: JwtVerifier) {
    const { issuer, defaultRights, readScope = READ_SCOPE, callScope = CALL_SCOPE } = options;
    this.issuer = issuer;
    this.scopes = defaultRights === undefined ? [readScope, callScope] : [];
    this.#options = options;
    this.#verifier = verifier;
  }

  /**
   * Fetches the keys in the background.
   *
   * @throws {TypeError} for a URL that is neither `https:` nor of this machine, and for an unknown algorithm.
   */
  static async open(options: JwtAccessOptions): Promise<JwtAccess> {
    const { issuer, jwksUrl } = options;
    const keySet = jwksUrl === undefined ? { issuer } : { url: jwksUrl };
    return new JwtAccess(
      options,
      await JwtVerifier.open({ ...options, keySet, httpFlag: "--oauth-allow-http" }),
    );
  }

  async verify(
    token: string,
    resource: string,
    signal: AbortSignal,
  ): Promise<TokenAccess | TokenRefusal> {
    const verified = await this.#verifier.verify(token, { audience: resource, signal });
    if ("refused" in verified) return verified;
    return readAccess(verified.claims, { ...this.#options, expiresAtMs: verified.expiresAtMs });
  }

  /**
   * Who may let clients into which offices, by a token for `audience`; `undefined` for any other token. May reject while it
   * cannot decide. The audience is none of a path: a client must not let itself in with the token that it has.
   */
  async operator(token: string, audience: string): Promise<TokenOperator | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const verified = await this.#verifier.verify(token, { audience });
    return "refused" in verified ? undefined : readOperator(verified.claims, this.#options);
  }

  /** Stops fetching keys. Idempotent. */
  close(): Promise<void> {
    return this.#verifier.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Claims with a name for the client, as issuers write them; the first that is there counts. */
const CLIENT_NAMES = ["client_name", "client_id", "azp", "appid"] as const;
/** The claims that tell clients apart. */
const CLIENT_IDS = ["client_id", "azp", "appid"] as const;

/** Who may let clients in. */
export interface TokenOperator {
  readonly name: string;
  readonly offices: Access["offices"];
}

/** Reads the claims of an operator; `undefined` for anybody else, and for a claim of a wrong type. */
export function readOperator(
  claims: Readonly<Record<string, unknown>>,
  { principalClaim = "sub", operatorClaim }: JwtClaimOptions,
): TokenOperator | undefined {
  if (operatorClaim === undefined || claims["cnf"] !== undefined) return undefined;
  const name = findClaim(claims, principalClaim);
  const claim = findClaim(claims, operatorClaim);
  if (!isPrincipal(name) || claim === undefined || !isTextOrList(claim)) return undefined;
  const offices = namesIn(claim) ?? "all";
  return offices.length === 0 ? undefined : { name, offices };
}

/** Reads the claims. A claim of a wrong type is refused: it must not count as absent. */
export function readAccess(
  claims: Readonly<Record<string, unknown>>,
  options: JwtClaimOptions & { readonly expiresAtMs: number },
): TokenAccess | TokenRefusal {
  const {
    principalClaim = "sub",
    officesClaim = "a2c_offices",
    computersClaim = "a2c_computers",
    rightsClaim = "a2c_rights",
    defaultOffices = [],
  } = options;
  const refuse = (refused: string, more: Partial<TokenRefusal> & { found?: unknown } = {}): TokenRefusal => {
    const { found, ...rest } = more;
    return { refused, ...rest, log: { sub: shownClaim(claims["sub"]), found: shownClaim(found) } };
  };
  // Whoever has copied such a token lacks the key that its client has (RFC 9449, RFC 8705).
  if (claims["cnf"] !== undefined) return refuse("the token is bound to a key, which is not supported here");
  const principal = findClaim(claims, principalClaim);
  const offices = findClaim(claims, officesClaim);
  const computers = findClaim(claims, computersClaim);
  const most = findClaim(claims, rightsClaim);
  const wrong = (name: string, found: unknown) =>
    refuse(`the token has no usable claim "${name}"`, { lacks: "forbidden", found });
  if (!isPrincipal(principal)) return wrong(principalClaim, principal);
  if (!isTextOrList(offices)) return wrong(officesClaim, offices);
  if (!isTextOrList(computers)) return wrong(computersClaim, computers);
  if (most !== undefined && !isRights(most)) return wrong(rightsClaim, most);
  const asked = askedRights(claims, options);
  if (asked === undefined) return refuse("the token has no scope for this MCP server", { lacks: "scope" });
  const rights = most === undefined ? asked : weaker(asked, most);
  const access: Access = {
    // Neither part has a slash then.
    id: [principal, firstText(claims, CLIENT_IDS) ?? ""].map(encodeURIComponent).join("/"),
    client: firstText(claims, CLIENT_NAMES) ?? "",
    offices: namesIn(offices ?? defaultOffices) ?? "all",
    computers: computers === undefined ? undefined : namesIn(computers),
    rights,
    expiresAt: options.expiresAtMs,
  };
  const isLimitedByScope = options.defaultRights === undefined && asked === "read";
  return { access, mayGrow: isLimitedByScope && most !== "read" };
}

/** What the scopes of a token ask for, as OAuth writes them (`scope`), or Microsoft and Okta (`scp`). */
function askedRights(
  claims: Readonly<Record<string, unknown>>,
  { readScope = READ_SCOPE, callScope = CALL_SCOPE, defaultRights }: JwtClaimOptions,
): AccessRights | undefined {
  const scopes = [claims["scope"], claims["scp"]]
    .flatMap((claim) => isTextOrList(claim) ? [claim ?? []].flat() : [])
    .flatMap((text) => text.split(" "));
  if (scopes.includes(callScope)) return "call";
  return scopes.includes(readScope) ? "read" : defaultRights;
}

function isRights(value: unknown): value is AccessRights {
  return ACCESS_RIGHTS.some((rights) => rights === value);
}

function weaker(one: AccessRights, other: AccessRights): AccessRights {
  return ACCESS_RIGHTS.indexOf(one) < ACCESS_RIGHTS.indexOf(other) ? one : other;
}

function firstText(
  claims: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string | undefined {
  return names.map((name) => claims[name]).find((value) => isPrincipal(value));
}
