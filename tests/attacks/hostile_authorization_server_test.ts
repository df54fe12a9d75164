/** Attacker: an authorization server or an MCP server whose answers would damage the sign-ins at others. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { Computer, fileTokenStore } from "../../computer.ts";
import { AuthorizationServer, signIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { eventually } from "../fixtures/within.ts";
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
