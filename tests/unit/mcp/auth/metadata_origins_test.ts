import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  assertOneOrigin,
  mayGetTokens,
  whyAnswerNamesIssuer,
} from "../../../../src/mcp/auth/metadata_origins.ts";
import { SignInError } from "../../../../src/mcp/errors.ts";

const issuer = "https://auth.example";
const whole = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
};
/** Addresses that look like the issuer's, and are of another origin. */
const FOREIGN = [
  "https://evil.example/x",
  "https://auth.example.evil.example/x",
  "https://login.auth.example/x",
  "https://example/x",
  "https://auth.example:8443/x",
  "http://auth.example/x",
  "https://auth.example./x",
  "https://auth.example@evil.example/x",
  "https://evil.example\\@auth.example/x",
  "//auth.example/x",
  "data:text/plain,x",
  "",
];

Deno.test("an address of another origin makes metadata split, whichever it is and however it is spelled", () => {
  const members = [
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
    "device_authorization_endpoint",
  ];
  for (const address of FOREIGN) {
    for (const member of [...members, "authorization_endpoint"]) {
      const why = whyAnswerNamesIssuer({ ...whole, [member]: address }, { config: {} });
      assertStringIncludes(why ?? "", "another address", `${member} ${address}`);
    }
    for (const member of members) {
      const check = () => assertOneOrigin({ ...whole, [member]: address }, { config: {} });
      assertThrows(check, SignInError, `set "issuer": "${issuer}"`, `${member} ${address}`);
      assertOneOrigin({ ...whole, [member]: address }, { config: { issuer } });
    }
    assertThrows(() => assertOneOrigin(whole, { config: {}, page: address }), SignInError, "page", address);
  }
});

Deno.test("addresses of another tenant of the same host make metadata split", () => {
  const host = "https://login.example";
  const cases: readonly (readonly [issuer: string, path: string, isSplit: boolean])[] = [
    ["/u/evil", "/u/bank/authorize", true],
    ["/u/evil", "/u/evil/../bank/authorize", true],
    ["/u/evil", "/u/bank/authorize?tenant=/u/evil", true],
    ["/u/evil", "/authorize", true],
    ["/u/authorize", "/u/bank/authorize", true],
    ["/u/auth", "/u/bank/protocol/openid-connect/auth", true],
    ["/u/evil", "/u/bank/authorize/evil", true],
    ["/u/evil", "/u/bank/authorize;/u/evil", true],
    ["/u/evil", "/u/evil/..%2fbank/authorize", true],
    ["/u/evil", "/u/evil/authorize", false],
    ["/realms/x", "/realms/x/protocol/openid-connect/auth", false],
    ["/tenant/v2.0", "/tenant/oauth2/v2.0/authorize", false],
    ["/tenant/v2.0", "/other/oauth2/v2.0/authorize", true],
    ["/adfs", "/adfs/oauth2/authorize/", false],
  ];
  for (const [path, address, isSplit] of cases) {
    const metadata = {
      issuer: host + path,
      authorization_endpoint: host + address,
      token_endpoint: `${host}${path}/token`,
    };
    assertEquals(whyAnswerNamesIssuer(metadata, { config: {} }) !== undefined, isSplit, `${path} ${address}`);
  }
});

Deno.test("metadata of one origin needs no name in its answers, unless it promises one", () => {
  for (const same of [`${issuer}/x`, "https://AUTH.example:443/x", "https://auth.example/a/../b"]) {
    const metadata = { ...whole, token_endpoint: same };
    assertEquals(whyAnswerNamesIssuer(metadata, { config: {} }), undefined, same);
    assertOneOrigin(metadata, { config: {}, page: same });
  }
  const announced = { ...whole, authorization_response_iss_parameter_supported: true };
  for (const config of [{}, { issuer }]) {
    assertStringIncludes(whyAnswerNamesIssuer(announced, { config }) ?? "", "promises");
  }
  const split = { ...whole, token_endpoint: FOREIGN[0] ?? "" };
  assertEquals(whyAnswerNamesIssuer(split, { config: { issuer } }), undefined);
});

Deno.test("tokens go back to the issuer, and to where they came from", () => {
  const tokenOrigin = "https://tokens.example";
  const rows: readonly (readonly [endpoint: string | undefined, origin: string | undefined, may: boolean])[] =
    [
      [`${issuer}/token`, undefined, true],
      [`${tokenOrigin}/token`, tokenOrigin, true],
      [`${tokenOrigin}/token`, undefined, false],
      [undefined, undefined, false],
      ...FOREIGN.map((endpoint) => [endpoint, tokenOrigin, false] as const),
    ];
  for (const [endpoint, origin, may] of rows) {
    assertEquals(mayGetTokens(endpoint, { issuer, tokenOrigin: origin }, { config: {} }), may, `${endpoint}`);
  }
  assertEquals(mayGetTokens(FOREIGN[0], { issuer }, { config: { issuer } }), true);
});
