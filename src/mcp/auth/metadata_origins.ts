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
  "device_authorization_endpoint",
] as const;

/** By configuring the issuer, the owner of the Computer vouches for all that it names. */
interface Vouching {
  readonly config: Pick<OAuthSettings, "issuer">;
}

function originOf(address: unknown): string {
  return (typeof address === "string" ? URL.parse(address)?.origin : undefined) ?? "no URL";
}

/** What hosts may read as another path than it says. */
const AMBIGUOUS = /%2f|%5c|;/i;
/** What Microsoft Entra puts before the last name of an issuer: `/TENANT/v2.0` has `/TENANT/oauth2/v2.0/authorize`. */
const INSERTED = "oauth2";

/** Whether an address is at the issuer's origin and below its path: tenants share a host. */
function isOfIssuer(address: unknown, issuer: string): boolean {
  if (originOf(address) !== originOf(issuer)) return false;
  const names = (url: string) => URL.parse(url)?.pathname.split("/").filter((name) => name !== "") ?? [];
  const [own, of] = [names(issuer), names(String(address))];
  if (own.length === 0) return true;
  const at = own.length - 1;
  const path = at > 0 && of[at] === INSERTED ? of.toSpliced(at, 1) : of;
  return own.every((name, index) => name === path[index]) && !of.some((name) => AMBIGUOUS.test(name));
}

/**
 * What makes metadata split, in words: the page, or an address that gets codes, secrets or tokens, is of another origin
 * than the issuer, be it by a sub-domain or a port, or of another tenant of the same host. `undefined` for metadata of one
 * origin and tenant, or of a configured issuer.
 */
function splitOf(
  metadata: oauth.AuthorizationServer,
  { config, page }: Vouching & { readonly page?: string | undefined },
): string | undefined {
  const receivers = RECEIVERS.map((name): [string, unknown] => [name.replaceAll("_", " "), metadata[name]]);
  for (const [what, address] of config.issuer ? [] : [["page", page], ...receivers]) {
    if (address === undefined || isOfIssuer(address, metadata.issuer)) continue;
    const { origin, pathname } = URL.parse(String(address)) ?? { origin: "no URL", pathname: "" };
    return `its ${what} is at another address, ${origin}${pathname === "/" ? "" : pathname}`;
  }
  return undefined;
}

/** Why an answer of the page must name its issuer (RFC 9207); `undefined` where it need not. */
export function whyAnswerNamesIssuer(
  metadata: oauth.AuthorizationServer,
  { config }: Vouching,
): string | undefined {
  if (metadata.authorization_response_iss_parameter_supported === true) return "its metadata promises that";
  return splitOf(metadata, { config, page: metadata.authorization_endpoint });
}

/**
 * Checks metadata for a sign-in without an answer that could name the issuer: on another device, or without a person.
 *
 * @param options `page`: where the person enters a code.
 * @throws {SignInError} when it is split.
 */
export function assertOneOrigin(
  metadata: oauth.AuthorizationServer,
  options: Vouching & { readonly page?: string },
): void {
  const split = splitOf(metadata, options);
  if (split === undefined) return;
  throw new SignInError(`Cannot sign in at ${metadata.issuer}: ${split}; ${adviceOf(metadata.issuer)}`);
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
  { config }: Vouching,
): boolean {
  return Boolean(config.issuer) || [originOf(issuer), tokenOrigin].includes(originOf(endpoint));
}
