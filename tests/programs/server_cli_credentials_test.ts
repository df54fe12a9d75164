import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startDoor } from "../fixtures/door.ts";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";
import { ISSUER, KeySetServer, SigningKey, signWithSecret } from "../fixtures/issuer.ts";
import { within } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const lab = { role: "agent", name: "ada", office_id: "lab" } as const;

/** Runs a Server with these options while `use` runs. */
async function serve(
  { args, env = {}, permissions }: {
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly permissions?: readonly string[];
  },
  use: (url: string, log: () => string) => Promise<void>,
): Promise<void> {
  const words = ["--port", "0", ...args];
  await using program = permissions === undefined
    ? startHosted("server.ts", words, { env })
    : startDoor("server.ts", words, { env, permissions });
  try {
    await use(await program.listening(), () => program.stderr.text);
  } finally {
    program.kill("SIGINT");
  }
  assertEquals((await program.end()).code, 0);
}

Deno.test("server.ts ends the connections of a token that is taken out of its file", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "s3cret name=ada offices=lab\nother name=bob\n");
  const permissions = ["--allow-net", "--ignore-env", `--allow-read=${file}`];
  await serve({ args: ["--token-file", file], permissions }, async (url) => {
    await using ada = await RawPeer.join(url, lab, { auth: { token: "s3cret" } });
    const [isJoined] = await ada.request("server:join_office", {
      ...lab,
      role: "computer",
      office_id: "den",
    });
    assertEquals(isJoined, false);
    const heard = ada.next("notify:connection_closing");
    await Deno.writeTextFile(file, "other name=bob\n");
    assertEquals(Object(await heard).code, "credentials_revoked");
    await within(ada.disconnected, "the end of the connection");
  });
  await Deno.remove(file);
});

Deno.test("server.ts admits by JWT and by token, with names of fields of one's own", async () => {
  const env = { A2C_JWT_SECRET: SECRET };
  const args = ["--token", "s3cret", "--auth-field", "key", "--auth-header", "x-key", "--jwt-issuer", ISSUER];
  const claims = { groups: ["lab"], a2c_offices: undefined };
  const jwt = await signWithSecret(SECRET, claims);
  await serve({ args: [...args, "--jwt-offices-claim", "groups"], env }, async (url, log) => {
    for (
      const options of [{ auth: { key: "s3cret" } }, { auth: { key: jwt } }, { headers: { "X-Key": jwt } }]
    ) {
      await using peer = await RawPeer.join(url, lab, options);
      const [isJoined] = await peer.request("server:leave_office", { office_id: "lab" });
      assertEquals(isJoined, true);
    }
    const other = await RawPeer.connect(url, { auth: { token: jwt } }).then(() => "admitted", String);
    assertStringIncludes(other, "no token");
    assert(!log().includes(SECRET) && !log().includes(jwt), log());
  });
});

Deno.test("server.ts admits by the keys of a file and of a URL", async () => {
  const key = await SigningKey.generate();
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, JSON.stringify(key.jwk));
  await using keys = new KeySetServer();
  keys.publish(key);
  const token = await key.sign();
  const issuer = ["--jwt-issuer", ISSUER, "--jwt-audience", "other,a2c"];
  for (const source of [["--jwt-key-file", file], ["--jwt-jwks-url", keys.url]]) {
    await serve({ args: [...source, ...issuer] }, async (url) => {
      await using _peer = await RawPeer.join(url, lab, { auth: { token } });
    });
  }
  await Deno.remove(file);
});

Deno.test("server.ts says in one line what is wrong with its credentials", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "good\ns3cret office=lab\n");
  const jwks = ["--jwt-jwks-url", "https://issuer.example/keys"];
  const wrong: readonly [readonly string[], string][] = [
    [["--token-file", file], "line 2"],
    [["--jwt-secret", "short"], "32 bytes"],
    [["--jwt-secret-file", `${file}.missing`], "no such file"],
    [["--jwt-secret", SECRET, "--jwt-key-file", file], "exactly one"],
    [["--jwt-secret", SECRET, "--jwt-algorithm", "RS256"], "RS256"],
    [["--jwt-secret", SECRET, "--jwt-default-roles", "admin"], "admin"],
    [["--jwt-key-file", file], "set of keys"],
    [jwks, "--jwt-audience"],
    [
      ["--jwt-jwks-url", "http://issuer.example/keys", "--jwt-issuer", "i", "--jwt-audience", "a"],
      "--jwt-allow-http",
    ],
  ];
  for (const [args, part] of wrong) {
    const { code, stdout, stderr } = await runHosted("server.ts", ["--port", "0", ...args]);
    assertEquals([code, stdout], [2, ""], stderr);
    assertEquals(stderr.trim().split("\n").length, 1, stderr);
    assertStringIncludes(stderr, part);
    assert(!stderr.includes("s3cret") && !stderr.includes(SECRET), stderr);
  }
  await Deno.remove(file);
});

Deno.test("server.ts does not start without credentials when options of JWT ask for them", async () => {
  const wrong: readonly [readonly string[], Readonly<Record<string, string>>, string][] = [
    [["--jwt-issuer", ISSUER], {}, "--jwt-jwks-url"],
    [["--token", "s3cret", "--jwt-allow-http"], {}, "--jwt-allow-http"],
    [[], { A2C_JWT_AUDIENCE: "a2c" }, "--jwt-audience"],
    [[], { A2C_JWT_CLOCK_TOLERANCE: "5s" }, "--jwt-clock-tolerance"],
    [[], { A2C_JWT_JWKS_URI: "https://issuer.example/keys" }, 'did you mean "A2C_JWT_JWKS_URL"'],
  ];
  for (const [args, env, part] of wrong) {
    const { code, stdout, stderr } = await runHosted("server.ts", ["--port", "0", ...args], { env });
    assertEquals([code, stdout], [2, ""], stderr);
    assertStringIncludes(stderr, part);
  }
});

Deno.test("server.ts does not start in the clear when a variable of TLS is misspelt", async () => {
  const env = { A2C_TOKEN: "s3cret", A2C_TLS_CERT_FILE: "cert.pem", A2C_TLS_KEY_FILE: "key.pem" };
  const { code, stdout, stderr } = await runHosted("server.ts", ["--port", "0"], { env });
  assertEquals([code, stdout], [2, ""], stderr);
  assertStringIncludes(stderr, 'did you mean "A2C_TLS_');
});

Deno.test("server.ts takes an empty variable of JWT for none", async () => {
  const env = { A2C_JWT_ISSUER: "", A2C_JWT_ALLOW_HTTP: "false" };
  await serve({ args: ["--token", "s3cret"], env }, async (url) => {
    await using _peer = await RawPeer.join(url, lab, { auth: { token: "s3cret" } });
  });
});

Deno.test("server.ts warns of a token of the environment that has none of the limits of the token file", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "s3cret name=ada offices=lab\n");
  const args = ["--token-file", file];
  await serve({ args, env: { A2C_TOKEN: "m4ster" } }, async (url, log) => {
    await using _peer = await RawPeer.join(url, { ...lab, office_id: "any" }, { auth: { token: "m4ster" } });
    const warnings = log().split("\n").filter((line) => line.includes("WARN"));
    assertEquals(warnings.length, 1, log());
    assertStringIncludes(warnings[0] ?? "", "A2C_TOKEN");
    assert(!log().includes("m4ster"), log());
  });
  const env = { A2C_TOKEN: "s3cret" };
  const { code, stderr } = await runHosted("server.ts", ["--port", "0", ...args], { env });
  assertEquals(code, 2, stderr);
  for (const part of ["line 1", "A2C_TOKEN"]) assertStringIncludes(stderr, part);
  assert(!stderr.includes("s3cret"), stderr);
  await Deno.remove(file);
});
