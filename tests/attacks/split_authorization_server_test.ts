/** Attacker: an MCP server with an authorization server of its own, whose metadata or pages lead to an honest one */
import { assert, assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { memoryTokenStore, SignInError } from "../../computer.ts";
import { AuthorizationServer, followSignIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const REDIRECT = "http://127.0.0.1:1/callback";

/** An MCP server whose authorization server is `evil`, and an honest authorization server beside it. */
class Scene implements AsyncDisposable {
  readonly evil = new AuthorizationServer();
  readonly honest = new AuthorizationServer();
  readonly mcp = new HttpMcpServer("streamable", { tools: [{ name: "echo", inputSchema: {} }] }, {
    intercept: (message, request) => this.evil.guard(message, request),
  });
  readonly tokens = memoryTokenStore();

  constructor() {
    this.evil.mcpUrl = this.mcp.url;
    this.evil.metadata = { authorization_response_iss_parameter_supported: undefined };
  }

  async open(oauth: Record<string, unknown> | undefined = undefined): Promise<ComputerOffice> {
    const shop = { ...this.mcp.config(), ...oauth === undefined ? {} : { oauth } };
    return await ComputerOffice.open({ servers: { shop } }, { tokens: this.tokens });
  }

  /** The forms of all requests for tokens that `evil` got. */
  get stolen(): URLSearchParams[] {
    return this.evil.forms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.evil[Symbol.asyncDispose]();
    await this.honest[Symbol.asyncDispose]();
  }
}

async function begin({ computer }: ComputerOffice) {
  const begun = await computer.signIns.start("shop", { redirectUri: REDIRECT });
  assert(begun.kind === "browser");
  return begun;
}

/** Lets the honest server answer without its name, as many do. */
function withoutName(address: string): string {
  const url = new URL(address);
  url.searchParams.delete("iss");
  return url.href;
}

const codeOf = (address: string) => new URL(address).searchParams.get("code") ?? "";
const itself = (address: string) => address;
/** Whose page the person comes to: named in the metadata, or by a redirect of a page of the attacker. */
const byMetadata = ({ evil, honest }: Scene) =>
  void (evil.metadata = { ...evil.metadata, authorization_endpoint: `${honest.issuer}/authorize` });
const byRedirect = ({ evil, honest }: Scene) =>
  void evil.answers.set("/authorize", (_form, request) => {
    const location = `${honest.issuer}/authorize${new URL(request.url).search}`;
    return new Response(null, { status: 302, headers: { location } });
  });
const announcing = ({ evil }: Scene) => void (evil.metadata = {});

for (
  const [what, prepare, given, reason] of [
    ["names its page", byMetadata, itself, "iss"],
    ["names its page, which does not name its issuer", byMetadata, withoutName, '"issuer"'],
    ["names its page, and the code alone is pasted", byMetadata, codeOf, "whole address"],
    [
      "names its page, and a part of the address is pasted",
      byMetadata,
      (address: string) => new URL(address).search,
      "whole address",
    ],
    ["redirects to its page", byRedirect, itself, "iss"],
    ["redirects to its page, and the code alone is pasted", byRedirect, codeOf, "whole address"],
    [
      "redirects to its page, which leaves out the name that the attacker promised",
      (scene: Scene) => (announcing(scene), byRedirect(scene)),
      withoutName,
      "iss",
    ],
  ] as const
) {
  Deno.test(`an attacker that sends the person to an honest server gets no code of it: it ${what}`, async () => {
    await using scene = new Scene();
    prepare(scene);
    await using office = await scene.open();
    const begun = await begin(office);
    let page = begun.url;
    if (prepare !== byMetadata) page = await followSignIn(page);
    const answer = await followSignIn(page);
    await assertRejects(() => begun.finish(given(answer)), SignInError, reason);
    begun.cancel();
    assertEquals(scene.stolen, []);
  });
}

Deno.test("an honest server with endpoints at several addresses signs in by its name, or by the configuration", async () => {
  for (const oauth of [undefined, "configured"] as const) {
    await using scene = new Scene();
    const { evil, honest } = scene;
    // The page is the server's own, under another name of the same machine.
    const other = evil.issuer.replace("127.0.0.1", "localhost");
    evil.metadata = { ...evil.metadata, authorization_endpoint: `${other}/authorize` };
    await using office = await scene.open(oauth && { issuer: evil.issuer });
    const begun = await begin(office);
    assertEquals(begun.issuer, evil.issuer);
    const answer = await followSignIn(begun.url);
    await begun.finish(oauth === undefined ? answer : withoutName(answer));
    assertEquals((await office.computer.signIns.status("shop")).state, "signed in");
    assertEquals(honest.forms, []);
  }
});

Deno.test("the answers of two sign-ins at the same time are told apart by their redirects, and by their states", async () => {
  await using scene = new Scene();
  await using other = new Scene();
  await using office = await scene.open();
  await using otherOffice = await other.open();
  const [one, two] = [await begin(office), await begin(otherOffice)];
  assertNotEquals(one.redirectUri, two.redirectUri);
  assertStringIncludes(one.redirectUri, `${REDIRECT}/`);
  const answer = new URL(await followSignIn(one.url));
  const atOther = new URL(two.redirectUri);
  atOther.search = answer.search;
  const plain = new URL(REDIRECT);
  plain.search = answer.search;
  for (const address of [atOther, plain, new URL(answer.href.replace(":1/", ":2/"))]) {
    const error = await assertRejects(() => one.finish(address.href), SignInError, "another one");
    assertEquals(error.isOver, false);
  }
  await assertRejects(() => two.finish(answer.href), SignInError, "another one");
  await one.finish(answer.href.replace("127.0.0.1", "localhost"));
  assertEquals([scene.stolen.length, other.stolen.length], [1, 0]);
});

Deno.test("on a device, nobody is sent to the page of another server, and no code goes to another endpoint", async () => {
  const offer = (page: string, complete = page) => () =>
    Response.json({
      device_code: "d",
      user_code: "F7KX9QZLM",
      verification_uri: page,
      verification_uri_complete: complete,
      expires_in: 600,
      interval: 60,
    });
  const cases: readonly ((scene: Scene) => void)[] = [
    ({ evil, honest }) => void evil.answers.set("/device", offer(`${honest.issuer}/enter`)),
    ({ evil, honest }) =>
      void evil.answers.set("/device", offer(`${evil.issuer}/`, `${honest.issuer}/enter`)),
    ({ evil }) =>
      void evil.answers.set("/device", offer(`${evil.issuer.replace("127.0.0.1", "localhost")}/enter`)),
    ({ evil, honest }) => void (evil.metadata = { device_authorization_endpoint: `${honest.issuer}/device` }),
    ({ evil, honest }) => void (evil.metadata = { token_endpoint: `${honest.issuer}/token` }),
  ];
  for (const prepare of cases) {
    await using scene = new Scene();
    prepare(scene);
    await using office = await scene.open();
    const start = () => office.computer.signIns.start("shop", { device: true });
    await assertRejects(start, SignInError, `set "issuer": "${scene.evil.issuer}"`);
    assertEquals([...scene.stolen, ...scene.honest.forms], []);
  }
  await using scene = new Scene();
  cases[0]?.(scene);
  await using office = await scene.open({ issuer: scene.evil.issuer });
  const begun = await office.computer.signIns.start("shop", { device: true });
  assert(begun.kind === "device");
  assertEquals([begun.issuer, begun.url], [scene.evil.issuer, `${scene.honest.issuer}/enter`]);
  begun.cancel();
  await assertRejects(() => begun.finished, SignInError);
});

Deno.test("the secret of a service goes to no other address than its issuer's, unless that is configured", async () => {
  const service = { grant: "client_credentials", clientId: "known", clientSecret: "s3cret-of-the-service" };
  await using scene = new Scene();
  const { evil, honest } = scene;
  evil.metadata = { token_endpoint: `${honest.issuer}/token` };
  const office = await scene.open(service);
  const { fields } = await office.log.until(stateOf("shop", "retrying"));
  assertStringIncludes(String(fields["error"]), `set "issuer": "${evil.issuer}"`);
  await office[Symbol.asyncDispose]();
  assertEquals([...scene.stolen, ...honest.forms], []);
  await using _trusting = await scene.open({ ...service, issuer: evil.issuer });
  await eventually(() => honest.forms.length, (count) => count > 0, "a request at the configured one");
});

Deno.test("tokens go to no address that an authorization server names after the sign-in", async () => {
  await using scene = new Scene();
  const { evil, honest } = scene;
  {
    await using office = await scene.open();
    const begun = await begin(office);
    await begun.finish(await followSignIn(begun.url));
  }
  const [signedIn] = await scene.tokens.read("shop");
  assertEquals(signedIn?.tokenOrigin, evil.issuer);
  evil.metadata = {
    token_endpoint: `${honest.issuer}/token`,
    revocation_endpoint: `${honest.issuer}/revoke`,
  };
  evil.endAccessTokens();
  await using office = await scene.open();
  const { fields } = await office.log.until(stateOf("shop", "needs sign-in"));
  assertStringIncludes(String(fields["error"]), "another address");
  const { isRevoked } = await office.computer.signIns.signOut("shop");
  assertEquals(isRevoked, false);
  assertEquals(honest.requests.filter((each) => each.startsWith("POST")), []);
});

Deno.test("an issuer that could pass for another one in what a person sees is refused", async () => {
  for (
    const issuer of [
      "https://accounts.example@evil.example",
      "https://evil.example/#x",
      "https://evil.example/?x",
    ]
  ) {
    await using scene = new Scene();
    scene.evil.resource = { authorization_servers: [issuer] };
    await using office = await scene.open();
    await assertRejects(() => begin(office), SignInError, "no https URL");
  }
});
