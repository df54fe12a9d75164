/**
 * Which addresses in the metadata of an authorization server belong together. A matching issuer says nothing about the
 * endpoints beside it: they may be another server's, whose answers would then be passed on. Pure.
 */
import type * as oauth from "oauth4webapi";
import type { OAuthSettings } from "../../protocol/config.ts";
import { SignInError } from "../errors.ts";
import type { StoredSignIn } from "./token_store.ts";

/** What gets codes, verifiers, secrets or tokens. */
const RECEIVERS = [
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "pushed_authorization_request_endpoint",
  "device_authorization_endpoint",
] as const;

/** An address that is of another origin than the issuer. */
interface ForeignAddress {
  readonly what: string;
  readonly origin: string;
}

/** Whose metadata it is, and whether the owner of the Computer has configured this issuer, and so vouches for all of it. */
interface Vouched {
  readonly config: Pick<OAuthSettings, "issuer">;
}

function originOf(address: unknown): string {
  return (typeof address === "string" ? URL.parse(address)?.origin : undefined) ?? "no URL";
}

/**
 * The first address that is of another origin than the issuer: the page where the person signs in, or one that gets codes,
 * secrets or tokens. Hosts count by every letter, a sub-domain or another port is another origin.
 */
function foreignAddress(metadata: oauth.AuthorizationServer, page?: string): ForeignAddress | undefined {
  const own = originOf(metadata.issuer);
  const addresses = [
    ...page === undefined ? [] : [["page", page] as const],
    ...RECEIVERS.filter((name) => metadata[name] !== undefined).map((name) =>
      [name, metadata[name]] as const
    ),
  ];
  const foreign = addresses.find(([, address]) => originOf(address) !== own);
  return foreign && { what: foreign[0].replaceAll("_", " "), origin: originOf(foreign[1]) };
}

/** Why an answer of the page must name its issuer (RFC 9207); `undefined` where it need not. */
export function whyAnswerNamesIssuer(
  metadata: oauth.AuthorizationServer,
  { config }: Vouched,
): string | undefined {
  if (metadata.authorization_response_iss_parameter_supported === true) return "it says that it does";
  const foreign = config.issuer ? undefined : foreignAddress(metadata, metadata.authorization_endpoint);
  return foreign && `its ${foreign.what} is at ${foreign.origin}`;
}

/**
 * Checks metadata for a sign-in without an answer that could name the issuer: on another device, or without a person.
 *
 * @param options `page`: where the person enters a code.
 * @throws {SignInError} when an address is of another origin, and the issuer is not configured.
 */
export function assertOneOrigin(
  metadata: oauth.AuthorizationServer,
  { config, page }: Vouched & { readonly page?: string },
): void {
  const foreign = config.issuer ? undefined : foreignAddress(metadata, page);
  if (foreign === undefined) return;
  const { issuer } = metadata;
  throw new SignInError(
    `Cannot sign in: the ${foreign.what} of the authorization server ${issuer} is at another address, ` +
      `${foreign.origin}; ${adviceOf(issuer)}`,
  );
}

/** What to do about an authorization server that cannot be told from an impostor. */
export function adviceOf(issuer: string): string {
  return `if you trust this authorization server, set "issuer": "${issuer}" in the "oauth" of the server`;
}

/**
 * Whether an endpoint may get the tokens and the secret of a sign-in: it is at the issuer's origin, or where the tokens
 * came from. The metadata may have changed since.
 */
export function mayGetTokens(
  endpoint: string | undefined,
  { issuer, tokenOrigin }: Pick<StoredSignIn, "issuer" | "tokenOrigin">,
  { config }: Vouched,
): boolean {
  return Boolean(config.issuer) || [originOf(issuer), tokenOrigin].includes(originOf(endpoint));
}
