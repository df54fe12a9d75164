/** Attacker: an authorization server or an MCP server whose answers would damage the sign-ins at others. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { Computer, fileTokenStore, SignInError } from "../../computer.ts";
import { AuthorizationServer, followSignIn, signIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const OTHER = { server: "wiki", resource: "https://wiki.example/mcp", issuer: "https://auth.example" };
/** The most bytes that one server may make of the file, a few tokens included. */
const MAX_GROWTH_BYTES = 32 * 1024;

/** A Computer with a hostile MCP server "shop", in whose token file there is a sign-in at another server. */
class Scene implements AsyncDisposable {
  readonly as = new AuthorizationServer();
  readonly mcp = new HttpMcpServer("streamable", { tools: [{ name: "echo", inputSchema: {} }] }, {
    intercept: (message, request) => this.as.guard(message, request),
  });
  readonly #folder = Deno.makeTempDirSync();
  readonly path = join(this.#folder, "tokens.json");
  readonly tokens = fileTokenStore(this.path);

  constructor() {
    this.as.mcpUrl = this.mcp.url;
  }

  get config() {
    return { servers: { shop: this.mcp.config() } };
  }

  async signInElsewhere(): Promise<void> {
    const client = { clientId: "a2c", source: "registered" } as const;
    const other = { ...OTHER, client, tokens: { accessToken: "of-the-wiki" } };
    await this.tokens.update(OTHER, () => Promise.resolve(other));
  }

  /** Whether the sign-in at the other server is still there, after a restart. */
  async isOtherIntact(): Promise<boolean> {
    const [other] = await fileTokenStore(this.path).read("wiki");
    return other?.tokens?.accessToken === "of-the-wiki";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.as[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

for (
  const [what, prepare] of [
    ["tokens", ({ lifetimes }: AuthorizationServer) => void lifetimes.push(1e308)],
    [
      "a client's secret",
      (as: AuthorizationServer) =>
        void as.answers.set(
          "/register",
          () => Response.json({ client_id: "known", client_secret_expires_at: 1e308 }),
        ),
    ],
  ] as const
) {
  Deno.test(`an authorization server that gives ${what} a life beyond all numbers damages no other sign-in`, async () => {
    await using scene = new Scene();
    await scene.signInElsewhere();
    prepare(scene.as);
    const computer = Computer.open({ name: "laptop", config: scene.config, tokens: scene.tokens });
    await using _ = computer;
    await signIn(computer, "shop");
    assert(await scene.isOtherIntact());
    assertEquals((await computer.signIns.status("shop")).state, "signed in");
  });
}

Deno.test("what cannot be read again is never written over the sign-ins", async () => {
  await using scene = new Scene();
  await scene.signInElsewhere();
  const key = { ...OTHER, server: "shop" };
  const client = { clientId: "a2c", source: "registered" } as const;
  for (
    const tokens of [{ accessToken: "x", expiresAtMs: Infinity }, { accessToken: "x".repeat(17 * 1024 ** 2) }]
  ) {
    await assertRejects(
      () => scene.tokens.update(key, () => Promise.resolve({ ...key, client, tokens })),
      TypeError,
    );
    assert(await scene.isOtherIntact());
  }
});

Deno.test("an MCP server that wants other permissions for each call does not make the file of the sign-ins grow", async () => {
  await using scene = new Scene();
  await scene.signInElsewhere();
  let calls = 0;
  scene.as.scopeOf = ({ method }) =>
    method === "tools/call" ? `${"s".repeat(7_000)}${calls++} t${calls}` : undefined;
  await using office = await ComputerOffice.open(scene.config, { tokens: scene.tokens });
  await signIn(office.computer, "shop");
  await eventually(
    () => office.computer.servers.get("shop")?.status,
    (status) => status === "running",
    "the start of the server",
  );
  await office.computer.ready();
  for (let i = 0; i < 12; i++) assertEquals((await office.laptop.callTool("echo")).isError, true);
  assertEquals(calls, 12);
  const { size } = await Deno.stat(scene.path);
  assert(size < MAX_GROWTH_BYTES, `${size} bytes`);
  assert(await scene.isOtherIntact());
  // What it wants now is not lost for what it wanted before
  assert((await office.computer.signIns.status("shop")).missingScopes.includes("t12"));
});

Deno.test("slow authorization servers do not hold up the tokens of another MCP server", async () => {
  await using scene = new Scene();
  const end = Promise.withResolvers<undefined>();
  // Whatever issuers an MCP server names: of 300, some would share each of 64 locks.
  const slow = Array.from({ length: 300 }, (_, index) => {
    const key = { server: "shop", resource: scene.mcp.url, issuer: `https://slow.example/${index}` };
    return scene.tokens.update(key, () => end.promise);
  });
  await within(scene.signInElsewhere(), "the tokens of the other MCP server to be stored");
  end.resolve(undefined);
  await Promise.all(slow);
  assert(await scene.isOtherIntact());
});

/** Begins a sign-in at "shop", whose authorization server is as `prepare` makes it. */
async function begin(prepare: (scene: Scene) => void) {
  const scene = new Scene();
  prepare(scene);
  const office = await ComputerOffice.open(scene.config, { tokens: scene.tokens });
  const start = async () => {
    const redirectUri = "http://127.0.0.1:1/callback";
    const begun = await office.computer.signIns.start("shop", { redirectUri });
    assert(begun.kind === "browser");
    return { ...begun, state: new URL(begun.url).searchParams.get("state") ?? "" };
  };
  return {
    scene,
    start,
    async [Symbol.asyncDispose]() {
      await office[Symbol.asyncDispose]();
      await scene[Symbol.asyncDispose]();
    },
  };
}

Deno.test("lists in the metadata that are none are left out", async () => {
  const wrong = [
    "scopes_supported",
    "token_endpoint_auth_methods_supported",
    "dpop_signing_alg_values_supported",
  ];
  for (const value of [5, "S256", { includes: 1 }, true]) {
    await using attack = await begin(({ as }) => {
      as.metadata = Object.fromEntries(wrong.map((name) => [name, value]));
    });
    (await attack.start()).cancel();
    attack.scene.as.metadata = { code_challenge_methods_supported: value };
    const error = await assertRejects(attack.start, SignInError);
    assertMatch(error.message, /PKCE/);
  }
});

Deno.test("what an authorization server says is shown on one line", async () => {
  await using attack = await begin(() => {});
  const { finish, state, redirectUri } = await attack.start();
  const answer = new URLSearchParams({
    error: "access_denied",
    error_description: 'no\r\nsigned in at MCP server "wiki"\u2028\u0085done',
    iss: attack.scene.as.issuer,
    state,
  });
  const error = await assertRejects(() => finish(`${redirectUri}?${answer}`), SignInError);
  assert(!/[\r\n\u2028\u0085]/.test(error.message), JSON.stringify(error.message));
});

Deno.test("an issuer with characters that are not shown is refused", async () => {
  for (const suffix of ["/\nsigned in", "/\u001b[2J", "/\u202e"]) {
    await using attack = await begin(({ as }) => {
      as.resource = { authorization_servers: [`${as.issuer}${suffix}`] };
    });
    await assertRejects(attack.start, SignInError, "no https URL");
  }
});

Deno.test("an access token that no header may have is refused at the sign-in", async () => {
  for (const access_token of ["a\r\nX-Evil: 1", "tök", " "]) {
    await using attack = await begin(({ as }) => {
      as.answers.set("/token", () => Response.json({ access_token, token_type: "Bearer" }));
    });
    const { finish, url } = await attack.start();
    const answer = await followSignIn(url);
    await assertRejects(() => finish(answer), SignInError, "header");
  }
});

Deno.test("no more scopes are asked for, and remembered, than an address holds", async () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `scope${index}`);
  await using attack = await begin(({ as }) => {
    as.resource = { scopes_supported: ["\u001b[2J", ...many] };
    const scope = many.join(" ");
    as.answers.set("/token", () => Response.json({ access_token: "a", token_type: "Bearer", scope }));
  });
  const { finish, url } = await attack.start();
  assert(url.length < 16_384, `${url.length} characters`);
  assert(!decodeURIComponent(url).includes("\u001b"), url.slice(0, 400));
  await finish(await followSignIn(url));
  const [stored] = await attack.scene.tokens.read("shop");
  assert((stored?.tokens?.scope?.length ?? 0) <= 8_192);
});
