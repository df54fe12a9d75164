import { assertEquals, assertThrows } from "@std/assert";
import { parseConfig } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { oauthOf } from "../../../src/protocol/config.ts";

type Entry = Readonly<Record<string, unknown>>;

const url = "https://mcp.example.com/mcp";
const identityProvider = { issuer: "https://login.example.com", clientId: "desktop", idToken: "t" };

/** An entry of the specification's form. */
function own(
  oauth: unknown,
  { type = "streamable", headers }: { type?: string; headers?: Entry } = {},
): Entry {
  return { type, oauth, server_parameters: { url, ...(headers === undefined ? {} : { headers }) } };
}

/** What the member becomes, and the warnings on the way. */
function read(config: Entry): { readonly oauth: unknown; readonly warnings: readonly string[] } {
  const { servers: [server], warnings } = parseConfig({
    inputs: [{ id: "secret", type: "promptString", description: "", password: true }],
    ...config,
  });
  if (server === undefined) throw new TypeError("no server");
  const remarks = warnings.map(({ path, message }) => `${path} ${message}`);
  return { oauth: oauthOf(server), warnings: remarks.filter((each) => !each.startsWith("inputs")) };
}

const readOwn = (oauth: unknown) => read({ servers: { a: own(oauth) } });
const readFlat = (members: Entry) => read({ mcpServers: { a: { url, ...members } } });

/** What is wrong with a configuration. */
function refusals(config: Entry): string[] {
  const error = assertThrows(() => parseConfig(config), ConfigError);
  return error.problems.map(({ path, message }) => `${path} ${message}`);
}

const refusedOwn = (...given: Parameters<typeof own>) => refusals({ servers: { a: own(...given) } });

Deno.test("a server on the network has the settings of its sign-in, or says true or false", () => {
  for (
    const oauth of [true, false, {}, { grant: "authorization_code", scopes: ["a", "b"], redirectPort: 7777 }]
  ) {
    assertEquals(readOwn(oauth), { oauth, warnings: [] });
    assertEquals(readFlat({ oauth }), { oauth, warnings: [] });
  }
  for (const oauth of [undefined, null]) {
    assertEquals(readOwn(oauth), { oauth: undefined, warnings: [] });
    assertEquals(readFlat({ oauth }), { oauth: undefined, warnings: [] });
  }
});

Deno.test("the names that other programs give to the settings of a sign-in are understood", () => {
  const settings = { clientId: "me", clientSecret: "${input:secret}", scopes: ["a", "b"] };
  const others: readonly Entry[] = [
    { oauth: { clientId: "me", clientSecret: "${input:secret}", scope: "a b" } },
    { oauth: { enabled: true, client_id: "me", client_secret: "${input:secret}", scopes: "a, b" } },
    { auth: { CLIENT_ID: "me", CLIENT_SECRET: "${input:secret}", scopes: ["a", "b"] } },
    { auth: { CLIENT_ID: "me", CLIENT_SECRET: "${input:secret}" }, oauth_scopes: ["a", "b"] },
  ];
  for (const members of others) {
    assertEquals(readFlat(members), { oauth: settings, warnings: [] }, JSON.stringify(members));
  }
  assertEquals(readFlat({ auth: "oauth" }), { oauth: true, warnings: [] });
  assertEquals(readFlat({ oauth: { enabled: false, clientId: "me" } }), { oauth: false, warnings: [] });
  assertEquals(readFlat({ oauth: { clientId: "me", callbackPort: 8080 } }).oauth, {
    clientId: "me",
    redirectPort: 8080,
  });
});

Deno.test("variables of other programs are filled in within the settings of a sign-in", () => {
  assertEquals(readFlat({ oauth: { clientId: "${CLIENT}" } }).oauth, { clientId: "${env:CLIENT}" });
});

Deno.test("a misspelled setting of a sign-in is a warning that names the right one", () => {
  const hints: readonly (readonly [key: string, meant: string])[] = [
    ["client_id", "clientId"],
    ["clientsecret", "clientSecret"],
    ["scope", "scopes"],
    ["redirect_port", "redirectPort"],
  ];
  for (const [key, meant] of hints) {
    const { warnings } = readOwn({ [key]: "x" });
    assertEquals(warnings, [`servers.a.oauth.${key} unknown key, ignored; did you mean "${meant}"?`]);
  }
  const [warning = ""] = readOwn({ colour: "red" }).warnings;
  assertEquals(warning.startsWith("servers.a.oauth.colour unknown key, ignored; known keys: grant"), true);
  assertEquals(read({ servers: { a: { ...own(undefined), outh: true } } }).warnings, [
    'servers.a.outh unknown key, ignored; did you mean "oauth"?',
  ]);
});

Deno.test("settings of a sign-in that contradict each other are refused, with a fix", () => {
  const clientId = "me";
  const cases: readonly (readonly [oauth: Entry, problem: string])[] = [
    [{ clientSecret: "s" }, 'clientSecret needs "clientId"; add the id of the client'],
    [{ privateKey: "k" }, 'privateKey needs "clientId"; add the id of the client'],
    [
      { grant: "client_credentials" },
      'grant "client_credentials" needs "clientId", and "clientSecret" or "privateKey"',
    ],
    [
      { grant: "client_credentials", clientId },
      'grant "client_credentials" needs "clientSecret" or "privateKey"',
    ],
    [
      { grant: "jwt_bearer", clientId },
      'grant "jwt_bearer" needs "clientId", and "assertion", "assertionFile" or "identityProvider"',
    ],
    [
      { grant: "jwt_bearer", clientId, assertion: "a", identityProvider },
      'identityProvider cannot be combined with "assertion"; remove one of them',
    ],
    [
      { grant: "jwt_bearer", clientId, identityProvider: { ...identityProvider, idToken: null } },
      'identityProvider needs "idToken" or "idTokenFile"; add the ID token of the person',
    ],
    [
      { grant: "jwt_bearer", clientId, identityProvider: { ...identityProvider, idTokenFile: "f" } },
      'identityProvider.idTokenFile cannot be combined with "idToken"; remove one of them',
    ],
    [
      { grant: "jwt_bearer", clientId, identityProvider: { ...identityProvider, issuer: "example.com" } },
      "identityProvider.issuer must be an http or https URL",
    ],
    [
      { grant: "jwt_bearer", clientId, assertion: "a", assertionFile: "f" },
      'assertionFile cannot be combined with "assertion"; remove one of them',
    ],
    [
      { clientId, clientSecret: "s", privateKey: "k" },
      'privateKey cannot be combined with "clientSecret"; remove one of them',
    ],
    [
      { clientId, clientMetadataUrl: "https://x.example/c.json" },
      'clientMetadataUrl cannot be combined with "clientId"; remove one of them',
    ],
  ];
  for (const [oauth, problem] of cases) assertEquals(refusedOwn(oauth), [`servers.a.oauth.${problem}`]);
  assertEquals(refusedOwn(true, { headers: { authorization: "Bearer x" } }), [
    'servers.a.oauth cannot be combined with the header "authorization"; remove one of them',
  ]);
  assertEquals(read({ servers: { a: own(false, { headers: { Authorization: "Bearer x" } }) } }).warnings, []);
});

Deno.test("invalid settings of a sign-in are refused, with a fix", () => {
  const cases: readonly (readonly [oauth: unknown, problem: string])[] = [
    ["yes", " must be true or false or an object, not a string"],
    [
      { grant: "password" },
      '.grant must be one of "authorization_code", "device_code", "client_credentials", "jwt_bearer"',
    ],
    [{ redirectPort: 0 }, ".redirectPort must be at least 1"],
    [{ redirectPort: 70_000 }, ".redirectPort must be at most 65535"],
    [{ redirectPort: 1.5 }, ".redirectPort must be a whole number, not a number"],
    [{ scopes: "a b" }, ".scopes must be a list, not a string"],
    [{ scopes: ["a b"] }, ".scopes[0] must not have white space; write each scope as an item"],
    [{ issuer: "example.com" }, ".issuer must be an http or https URL"],
    [{ resource: "https://x/#y" }, ".resource must not have a fragment (#…)"],
    [
      { clientMetadataUrl: "http://x/c.json" },
      '.clientMetadataUrl must be an https URL with a path, such as "https://example.com/client.json"',
    ],
    [
      { clientId: "me", privateKey: "k", keyAlgorithm: "RS255" },
      '.keyAlgorithm is not an algorithm of a private key; did you mean "RS256"?',
    ],
  ];
  for (const [oauth, problem] of cases) assertEquals(refusedOwn(oauth), [`servers.a.oauth${problem}`]);
});

Deno.test("settings of a sign-in that mean nothing are warnings", () => {
  const misspelled = { ...identityProvider, idtoken: "t" };
  assertEquals(readOwn({ grant: "jwt_bearer", clientId: "me", identityProvider: misspelled }).warnings, [
    'servers.a.oauth.identityProvider.idtoken unknown key, ignored; did you mean "idToken"?',
  ]);
  const program = { type: "stdio", oauth: true, server_parameters: { command: "x" } };
  assertEquals(read({ servers: { a: program } }).warnings, [
    'servers.a.oauth has no effect: a program gets its credentials in "env"',
  ]);
  assertEquals(read({ mcpServers: { a: { command: "node", oauth: true } } }).warnings, [
    'mcpServers.a.oauth has no effect: a program gets its credentials in "env"',
  ]);
  assertEquals(read({ mcpServers: { a: { command: "node", oauth: false } } }).warnings, []);
});

Deno.test("the version 2026 has no effect over HTTP with SSE, in both forms", () => {
  const why = "mcp_version has no effect: HTTP with SSE always has sessions";
  const sse = { type: "sse", mcp_version: "2026" };
  assertEquals(read({ servers: { a: { ...sse, server_parameters: { url } } } }).warnings, [
    `servers.a.${why}`,
  ]);
  assertEquals(readFlat(sse).warnings, [`mcpServers.a.${why}`]);
  assertEquals(readFlat({ ...sse, mcp_version: "auto" }).warnings, []);
});

Deno.test("a version of MCP that is a number, or another year, is refused without a wrong hint", () => {
  const problem = 'servers.a.mcp_version must be one of "2025", "2026", "auto"';
  const refused = (mcp_version: unknown) => refusals({ servers: { a: { ...own(true), mcp_version } } });
  assertEquals(refused(2026), [problem]);
  assertEquals(refused("2027"), [problem]);
  assertEquals(refused("Auto"), [`${problem}; did you mean "auto"?`]);
});

Deno.test("a member that belongs beside the parameters of a server is a warning that says so", () => {
  const parameters = { url, oauth: true, mcp_version: "2026", header: {} };
  const { warnings } = read({ servers: { a: { type: "streamable", server_parameters: parameters } } });
  const place = "servers.a.server_parameters";
  assertEquals(warnings, [
    `${place}.oauth ignored: it belongs beside "server_parameters"`,
    `${place}.mcp_version ignored: it belongs beside "server_parameters"`,
    `${place}.header unknown key, ignored; did you mean "headers"?`,
  ]);
});

Deno.test("the inputs of a sign-in are known to be used", () => {
  const { warnings } = parseConfig({
    inputs: [{ id: "secret", type: "promptString", description: "" }],
    servers: { a: own({ clientId: "me", clientSecret: "${input:secret}" }) },
  });
  assertEquals(warnings, []);
  const missing = parseConfig({ servers: { a: own({ clientId: "${input:id}" }) } }).warnings;
  assertEquals(missing.map(({ path, message }) => [path, message]), [
    [
      "servers.a.oauth.clientId",
      'uses input "id", which is not in "inputs"; declare it there, or write ${env:NAME}',
    ],
  ]);
});
