/** Checks the member `oauth` of an MCP server: wrong values, wrong combinations and misspelled members. */
import type { MCPServerConfig, OAuthSettings } from "../protocol/config.ts";
import { IDENTITY_PROVIDER_KEYS, OAUTH_KEYS } from "../protocol/schemas/config.ts";
import { warnOfUnknownKeys } from "./explain.ts";
import { hasPlaceholder } from "./placeholders.ts";
import type { ConfigPath, ReadingPlace } from "./problem.ts";
import { didYouMean } from "../text/spelling.ts";

const ALGORITHMS: readonly string[] = [
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
  "EdDSA",
  "Ed25519",
];

/** Checks the member `oauth`; `path` is the path of the server's entry. */
export function checkOAuth(config: MCPServerConfig, { path, findings }: ReadingPlace): void {
  const place = { path: [...path, "oauth"], findings };
  if (config.type === "stdio") return warnOfProgram({ ...config }, { path, findings });
  const { oauth, server_parameters: { headers } } = config;
  if (oauth === undefined || oauth === null || oauth === false) return;
  const header = Object.keys(headers ?? {}).find((name) => name.toLowerCase() === "authorization");
  if (header !== undefined) {
    findings.refuse(place.path, `cannot be combined with the header "${header}"; remove one of them`);
  }
  if (oauth === true) return;
  warnOfUnknownKeys(oauth, OAUTH_KEYS, place);
  const { identityProvider } = oauth;
  if (identityProvider) {
    warnOfUnknownKeys(identityProvider, IDENTITY_PROVIDER_KEYS, {
      path: [...place.path, "identityProvider"],
      findings,
    });
  }
  for (const [member, problem] of [...combinations(oauth), ...values(oauth)]) {
    findings.refuse([...place.path, ...member], problem);
  }
}

/** Warns of the member `oauth` of a program's entry, in any form; `path` is the path of the entry. */
export function warnOfProgram(
  entry: Readonly<Record<string, unknown>>,
  { path, findings }: ReadingPlace,
): void {
  const { oauth } = entry;
  if (oauth === undefined || oauth === null || oauth === false) return;
  findings.warn([...path, "oauth"], 'has no effect: a program gets its credentials in "env"');
}

type Problem = readonly [member: ConfigPath, problem: string];

function* combinations(oauth: OAuthSettings): Generator<Problem> {
  const { grant, clientId, clientSecret, privateKey, clientMetadataUrl } = oauth;
  if (!clientId) {
    if (clientSecret) yield [["clientSecret"], 'needs "clientId"; add the id of the client'];
    if (privateKey) yield [["privateKey"], 'needs "clientId"; add the id of the client'];
    if (grant === "client_credentials") {
      yield [["grant"], '"client_credentials" needs "clientId", and "clientSecret" or "privateKey"'];
    }
  } else if (clientMetadataUrl) {
    yield [["clientMetadataUrl"], 'cannot be combined with "clientId"; remove one of them'];
  }
  if (clientSecret && privateKey) {
    yield [["privateKey"], 'cannot be combined with "clientSecret"; remove one of them'];
  }
  if (grant === "client_credentials" && clientId && !clientSecret && !privateKey) {
    yield [["grant"], '"client_credentials" needs "clientSecret" or "privateKey"'];
  }
  if (grant === "jwt_bearer") yield* workloadCombinations(oauth);
}

function* workloadCombinations(oauth: OAuthSettings): Generator<Problem> {
  const { clientId, assertion, assertionFile, identityProvider } = oauth;
  if (!clientId || !(assertion || assertionFile || identityProvider)) {
    yield [
      ["grant"],
      '"jwt_bearer" needs "clientId", and "assertion", "assertionFile" or "identityProvider"',
    ];
  }
  if (assertion && assertionFile) {
    yield [["assertionFile"], 'cannot be combined with "assertion"; remove one of them'];
  }
  if (!identityProvider) return;
  if (assertion || assertionFile) {
    const other = assertion ? "assertion" : "assertionFile";
    yield [["identityProvider"], `cannot be combined with "${other}"; remove one of them`];
  }
  const { idToken, idTokenFile } = identityProvider;
  if (!idToken && !idTokenFile) {
    yield [["identityProvider"], 'needs "idToken" or "idTokenFile"; add the ID token of the person'];
  } else if (idToken && idTokenFile) {
    yield [["identityProvider", "idTokenFile"], 'cannot be combined with "idToken"; remove one of them'];
  }
}

function* values(oauth: OAuthSettings): Generator<Problem> {
  const { keyAlgorithm, scopes, resource, issuer, clientMetadataUrl, identityProvider } = oauth;
  if (keyAlgorithm && !hasPlaceholder(keyAlgorithm) && !ALGORITHMS.includes(keyAlgorithm)) {
    const hint = didYouMean(keyAlgorithm, ALGORITHMS) || `; one of ${ALGORITHMS.join(", ")}`;
    yield [["keyAlgorithm"], `is not an algorithm of a private key${hint}`];
  }
  for (const [index, scope] of (scopes ?? []).entries()) {
    if (/\s/.test(scope)) yield [["scopes", index], "must not have white space; write each scope as an item"];
  }
  for (const [member, url] of Object.entries({ resource, issuer })) {
    const problem = url ? addressProblem(url) : undefined;
    if (problem !== undefined) yield [[member], problem];
  }
  const problem = identityProvider ? addressProblem(identityProvider.issuer) : undefined;
  if (problem !== undefined) yield [["identityProvider", "issuer"], problem];
  if (clientMetadataUrl && !hasPlaceholder(clientMetadataUrl) && !isMetadataUrl(clientMetadataUrl)) {
    yield [
      ["clientMetadataUrl"],
      'must be an https URL with a path, such as "https://example.com/client.json"',
    ];
  }
}

function addressProblem(url: string): string | undefined {
  if (hasPlaceholder(url)) return undefined;
  const parsed = URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    return "must be an http or https URL";
  }
  return parsed.hash === "" ? undefined : "must not have a fragment (#…)";
}

function isMetadataUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.protocol === "https:" && parsed.pathname !== "/" && parsed.hash === "" &&
    parsed.username === "" && parsed.password === "";
}
