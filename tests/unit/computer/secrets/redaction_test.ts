import { assertEquals } from "@std/assert";
import { parseConfig } from "../../../../src/config/config.ts";
import { Redactor } from "../../../../src/computer/secrets/redaction.ts";
import { maskServer } from "../../../../src/computer/secrets/masking.ts";
import { secretsOf } from "../../../../src/computer/secrets/values.ts";
import type { MCPServerConfig } from "../../../../src/protocol/config.ts";
import { LogBook } from "../../../fixtures/log_book.ts";

function server(server_parameters: Record<string, unknown>, type = "stdio"): MCPServerConfig {
  const [config] = parseConfig({ servers: { s: { type, server_parameters } } }).servers;
  if (config === undefined) throw new TypeError("no server");
  return config;
}

function redactorOf(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  redactor.learn("s", secrets);
  return redactor;
}

Deno.test("the secrets of a stdio server are its variables, the values of its inputs and its secret arguments", () => {
  const written = server({
    command: "run",
    args: ["--dir", "/srv/public", "--key=${input:key}", "--token", "literal-token"],
    env: { API: "pre-${input:key}-post", MODE: "production" },
  });
  const resolved = server({
    command: "run",
    args: ["--dir", "/srv/public", "--key=k3y.[value]", "--token", "literal-token"],
    env: { API: "pre-k3y.[value]-post", MODE: "production" },
  });
  const redactor = redactorOf(...secretsOf(written, resolved).all);
  assertEquals(
    redactor.redact("in /srv/public: k3y.[value], literal-token, pre-k3y.[value]-post; k3y%2E; production"),
    "in /srv/public: ***, ***, ***; k3y%2E; ***",
  );
});

Deno.test("the content of env_file and ${file:…} is secret, and an Agent does not see the path", () => {
  const written = server({
    command: "x",
    args: ["--name", "${file:/home/me/name.txt}"],
    env_file: "/home/me/.env",
  });
  const resolved = server({ command: "x", args: ["--name", "file-value"], env: { PLAIN: "env-file-value" } });
  const redactor = redactorOf(...secretsOf(written, resolved).all);
  assertEquals(redactor.redact("a file-value b env-file-value"), "a *** b ***");
  assertEquals(JSON.stringify(maskServer(written)).includes("/home/me"), false);
});

Deno.test("the secrets of an HTTP server are its headers, word by word, and the secrets in its URL", () => {
  const written = server({
    url: "http://bob:hunter22@h.example/mcp?key=${input:key}&page=12345",
    headers: { Authorization: "Bearer ${input:token}", "X-Team": "blue team" },
  }, "streamable");
  const resolved = server({
    url: "http://bob:hunter22@h.example/mcp?key=abcdef&page=12345",
    headers: { Authorization: "Bearer t0k3n", "X-Team": "blue team" },
  }, "streamable");
  const redactor = redactorOf(...secretsOf(written, resolved).all);
  assertEquals(
    redactor.redact("401 at http://bob:hunter22@h.example/mcp?key=abcdef&page=12345 for t0k3n, blue team"),
    "401 at http://***@h.example/mcp?key=***&page=*** for ***, ***",
  );
});

Deno.test("secrets that overlap are masked as a whole", () => {
  const redactor = redactorOf("left-middle", "middle-right", "eft-m", "four");
  const text = "a left-middle-right b middle-right c eft-middle d fourfour";
  assertEquals(redactor.redact(text), "a *** b *** c ***iddle d ******");
});

Deno.test("a secret is found in its forms in JSON and in a URL", () => {
  const parameters = { command: "x", env: { KEY: 'two words/"quoted"' } };
  const redactor = redactorOf(...secretsOf(server(parameters), server(parameters)).all);
  const forms = [
    'two words/"quoted"',
    'two words/\\"quoted\\"',
    "two%20words%2F%22quoted%22",
    'words/"quoted"',
  ];
  assertEquals(forms.map((form) => redactor.redact(`<${form}>`)), forms.map(() => "<***>"));
});

Deno.test("values shorter than 4 characters and booleans are not masked", () => {
  const redactor = redactorOf("", "1", "abc", "true", "False", "x".repeat(20_000));
  assertEquals(redactor.redact("1 abc true False xxxx"), "1 abc true False xxxx");
});

Deno.test("a secret that contains another secret is masked as a whole", () => {
  assertEquals(
    redactorOf("word", "password", "passwords").redact("passwords, password, word"),
    "***, ***, ***",
  );
});

Deno.test("the end of a text may begin in the middle of a secret", () => {
  const redactor = redactorOf("0123456789", "56789-abcdef");
  assertEquals(redactor.redactTail("456789 and 0123456789"), "*** and ***");
  assertEquals(redactor.redactTail("6789-abcdef!"), "***!");
  assertEquals(redactor.redactTail("789 is too short to tell"), "789 is too short to tell");
});

Deno.test("wrap() masks messages and fields of a logger, but not the fields for names", () => {
  const log = new LogBook();
  const redactor = new Redactor();
  const wrapped = redactor.wrap(log);
  wrapped.info("before files", { server: "files" });
  redactor.learn("files", ["files", "s3cret"]);
  wrapped.warn("saw s3cret", { server: "files", error: "bad s3cret", code: 7, nothing: undefined });
  wrapped.debug("no fields");
  wrapped.error("s3cret");
  assertEquals(log.lines.map(({ module: _, ...line }) => line), [
    { level: "info", message: "before files", fields: { server: "files" } },
    {
      level: "warn",
      message: "saw ***",
      fields: { server: "files", error: "bad ***", code: 7, nothing: undefined },
    },
    { level: "debug", message: "no fields", fields: {} },
    { level: "error", message: "***", fields: {} },
  ]);
});

Deno.test("a server with too many secrets loses those of its oldest starts, and other servers lose none", () => {
  const redactor = redactorOf("steady-secret");
  for (let start = 0; start < 501; start++) redactor.learn("restless", [`secret-${1_000 + start}`]);
  assertEquals(
    redactor.redact("secret-1000 secret-1001 secret-1500 steady-secret"),
    "secret-1000 *** *** ***",
  );
});

Deno.test("the tokens of a sign-in displace older tokens, and no secret of the configuration", () => {
  const redactor = redactorOf("configured-key");
  for (let renewal = 0; renewal < 501; renewal++) redactor.learnTokens("s", [`token-${1_000 + renewal}`]);
  assertEquals(redactor.redact("token-1000 token-1001 token-1500 configured-key"), "token-1000 *** *** ***");
});

Deno.test("a token is found in its forms in JSON and in a URL", () => {
  const redactor = new Redactor();
  redactor.learnTokens("s", ['1//0g+t"ok=']);
  assertEquals(redactor.redact('1//0g+t"ok= 1//0g+t\\"ok= 1%2F%2F0g%2Bt%22ok%3D'), "*** *** ***");
});

Deno.test("beyond the most servers, the secrets of the oldest start are forgotten", () => {
  const redactor = new Redactor();
  for (let i = 0; i < 1_001; i++) redactor.learn(`server-${i}`, [`secret-${1_000 + i}`]);
  assertEquals(redactor.redact("secret-1000 secret-1001 secret-2000"), "secret-1000 *** ***");
});

Deno.test("a redactor without secrets changes nothing", () => {
  assertEquals([new Redactor().redactTail("text"), new Redactor().redact("text")], ["text", "text"]);
});

Deno.test("the credentials of a sign-in are secrets, and an Agent sees nothing of the sign-in", () => {
  const entry = (oauth: Record<string, unknown>) => {
    const [config] = parseConfig({
      servers: { s: { type: "streamable", oauth, server_parameters: { url: "http://x" } } },
    }).servers;
    if (config === undefined) throw new TypeError("no server");
    return config;
  };
  const written = entry({
    clientId: "laptop",
    clientSecret: "${input:secret}",
    issuer: "https://a/${input:tenant}",
  });
  const resolved = entry({ clientId: "laptop", clientSecret: "s3cr.et", issuer: "https://a/t-9271" });
  const keyed = entry({ clientId: "laptop", privateKey: "-----BEGIN x" });
  const asserted = entry({ clientId: "laptop", grant: "jwt_bearer", assertion: "as.ser.tion" });
  const identityProvider = { issuer: "https://b", clientId: "desk", clientSecret: "idp-s", idToken: "i.d.t" };
  const exchanged = entry({ clientId: "laptop", grant: "jwt_bearer", identityProvider });
  const all = [[written, resolved], [keyed, keyed], [asserted, asserted], [exchanged, exchanged]] as const;
  const redactor = redactorOf(...all.flatMap(([written, resolved]) => secretsOf(written, resolved).all));
  assertEquals(
    redactor.redact("laptop: s3cr.et at https://a/t-9271, -----BEGIN x, as.ser.tion, idp-s, i.d.t"),
    "laptop: *** at https://a/***, ***, ***, ***, ***",
  );
  assertEquals("oauth" in maskServer(written), false);
});

Deno.test("a path, a package and other ordinary arguments are shown to the owner, whatever words they have", () => {
  const args = [
    ...[
      "/x/k8s-tools/server.mjs",
      "~/a2c-smcp/tests/fixtures/failing_kit_server.ts",
      "./i18n/e2e.js",
      "../b2b/x86_64",
    ],
    ...["k8s-tools/server.mjs", "--root=/srv/p2p/2026-11-28T1/4f3a2b9c8d7e", "/tmp/5f2e8a9b1c3d4e5f/s.py"],
    ...[
      "C:\\Users\\ada\\k8s-tools\\server.mjs",
      "~\\a2c-smcp\\x.ts",
      "file:///home/ada/k8s-tools/server.mjs",
    ],
    ...["/nix/store/0c0v0n3xq7rk5-nodejs-22.1/bin/node", "/home/ada/my documents/a2c smcp/x.ts"],
    ...[
      "@scope/server-k8s@1.2.3",
      "mcp-server-s3",
      "gpt-4o-mini",
      "--model",
      "Qwen2.5-7B-Instruct",
      "us-east-1",
    ],
    ...["/tmp/tmp.Ab3dE9xYz1/server.mjs", "--port", "8080", "--log-level=debug", "x86_64-unknown-linux-gnu"],
  ];
  const parameters = server({ command: "node", args });
  const redactor = redactorOf(...secretsOf(parameters, parameters).all);
  for (const text of args) {
    assertEquals(redactor.redact(`Cannot find module '${text}'`), `Cannot find module '${text}'`);
  }
});

Deno.test("tokens and passwords in arguments stay secret in the owner's log, also where they look like a path", () => {
  const args = [
    ...[
      "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
      "sk-proj-8abc9def0",
      "550e8400-e29b-41d4-a716-446655440000",
    ],
    ...["--key=a1b2c3d4e5", "--token", "plainword", "/hooks/T00aB0cD1eF2gH3i/send", "xk3-p9q-a1b-c2d"],
    ...[
      "https://u:pa55wordx@h.example/p",
      "https://hooks.example/T0AbC1dEf2GhI3/B0aB1",
      "PASSWORD=hunter22x",
    ],
  ];
  const parameters = server({ command: "node", args, env: { HOME_OF: "/home/ada/k8s-tools" } });
  const redactor = redactorOf(...secretsOf(parameters, parameters).all);
  for (
    const secret of [
      ...[
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "sk-proj-8abc9def0",
        "550e8400-e29b-41d4-a716-446655440000",
      ],
      ...[
        "a1b2c3d4e5",
        "plainword",
        "T00aB0cD1eF2gH3i",
        "xk3-p9q-a1b-c2d",
        "pa55wordx",
        "T0AbC1dEf2GhI3",
        "hunter22x",
      ],
      "/home/ada/k8s-tools",
    ]
  ) assertEquals(redactor.redact(`saw ${secret}!`).includes(secret), false, secret);
});
