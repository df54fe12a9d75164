/** The rows of the table about credentials: all of the program alone, which makes an `AuthProvider` of them. */
import { DEFAULT_CLOCK_TOLERANCE_MS } from "../../jwt/bounds.ts";
import type { OptionRows } from "./row.ts";

export const CREDENTIAL_ROWS = {
  token: {
    kind: "texts",
    help: "accept clients with this token; repeatable",
    isSecret: true,
    who: "a Server with few clients that trust each other",
    of: "program",
  },
  tokenFile: {
    help: "accept the tokens in this file, one per line, each with the offices and roles that it may use; " +
      "read again when it changes",
    who: "a Server for other machines",
    of: "program",
  },
  machines: {
    help: "keep the machines that have joined by code in this file; none to take no machines",
    who: "a Server that people join with their machines",
    of: "program",
    value: "file",
    otherwise: "machines-PORT.json in your state folder, where clients need credentials",
  },
  authField: {
    help: "the auth field that carries the token",
    who: "a Server for clients that send it in another field",
    of: "program",
    default: "token",
  },
  authHeader: {
    kind: "words",
    help: "the HTTP headers that carry the token of clients without that field",
    who: "a Server for clients that send it in another header",
    of: "program",
    default: ["x-api-key", "authorization"],
  },
  allowAnonymous: {
    kind: "switch",
    help: "serve other machines without requiring a token",
    who: "a Server on a private network, or behind a proxy that authenticates",
  },
} as const satisfies OptionRows;

export const JWT_ROWS = {
  jwtSecret: {
    help: "accept JWTs that are signed with this secret of at least 32 bytes",
    isSecret: true,
    who: "an application that signs tokens for its own users",
    of: "program",
  },
  jwtSecretFile: {
    help: "accept JWTs that are signed with a secret in this file",
    who: "an application that signs tokens for its own users",
    of: "program",
  },
  jwtKeyFile: {
    help: "accept JWTs of a public key in this file: PEM, JWK or a set of JWKs",
    who: "an issuer that publishes no set of keys",
    of: "program",
  },
  jwtJwksUrl: {
    help: "accept JWTs of a key in the set at this URL; needs issuer and audience",
    who: "a Server with an identity provider",
    of: "program",
  },
  jwtIssuer: {
    kind: "words",
    help: "the issuers of accepted JWTs",
    who: "a Server with an identity provider",
    of: "program",
  },
  jwtAudience: {
    kind: "words",
    help: "the audiences, one of which a JWT must have",
    who: "a Server with an identity provider",
    of: "program",
  },
  jwtAlgorithm: {
    kind: "words",
    help: "the accepted algorithms",
    who: "an operator who allows fewer algorithms than the keys do",
    of: "program",
    otherwise: "HS256 for a secret, else those of the keys",
  },
  jwtPrincipalClaim: {
    help: "the claim with the name of the client",
    who: "an issuer that names clients elsewhere",
    of: "program",
    default: "sub",
  },
  jwtOfficesClaim: {
    help: "the claim with the offices that it may join, * for all",
    who: "an issuer with claims of its own names",
    of: "program",
    default: "a2c_offices",
  },
  jwtRolesClaim: {
    help: "the claim with the roles that it may have",
    who: "an issuer with claims of its own names",
    of: "program",
    default: "a2c_roles",
  },
  jwtDefaultOffices: {
    kind: "words",
    help: "the offices of a JWT without that claim, * for all",
    who: "an issuer that cannot add claims",
    of: "program",
    otherwise: "none",
  },
  jwtDefaultRoles: {
    kind: "words",
    help: "the roles of a JWT without that claim",
    who: "an issuer that cannot add claims",
    of: "program",
    default: ["agent", "computer", "observer"],
  },
  jwtClockToleranceMs: {
    kind: "ms",
    help: "how far the clock of the issuer may differ",
    who: "a machine without a synchronized clock",
    of: "program",
    default: DEFAULT_CLOCK_TOLERANCE_MS,
    least: 0,
  },
  jwtAllowHttp: {
    kind: "switch",
    help: "fetch the set of keys without TLS, also from another machine",
    who: "an issuer on a private network",
    of: "program",
  },
} as const satisfies OptionRows;
