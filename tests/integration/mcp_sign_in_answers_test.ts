/** Sign-ins at authorization servers that write answers in their own way: `null`, no type, an error with status 200. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Computer, memoryTokenStore, SignInError } from "../../computer.ts";
import { AuthorizationServer, followSignIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { within } from "../fixtures/within.ts";

interface Scene {
  readonly as: AuthorizationServer;
  readonly computer: Computer;
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  await using as = new AuthorizationServer();
  await using mcp = new HttpMcpServer("streamable", { tools: [] }, {
    intercept: (message, request) => as.guard(message, request),
  });
  as.mcpUrl = mcp.url;
  const config = { servers: { shop: mcp.config() } };
  await using computer = Computer.open({ name: "laptop", config, tokens: memoryTokenStore() });
  await use({ as, computer });
}

/** Makes the server answer at a path as it would, with these members more. */
function answerWith(as: AuthorizationServer, path: string, members: Record<string, unknown>): void {
  as.answers.set(path, () => Response.json(members));
}

async function signIn({ computer }: Scene): Promise<void> {
  const begun = await computer.signIns.start("shop");
  assert(begun.kind === "browser");
  await begun.finish(await followSignIn(begun.url));
  await within(begun.finished, "the end of the sign-in");
}

const NOTHING = { scope: null, id_token: null, refresh_token: null, expires_in: null, foo: null };
const rows: readonly (readonly [what: string, prepare: (as: AuthorizationServer) => void])[] = [
  ["tokens", (as) => answerWith(as, "/token", { access_token: "t", token_type: "bearer", ...NOTHING })],
  ["tokens without a type", (as) => answerWith(as, "/token", { access_token: "t", ...NOTHING })],
  ["tokens of the type null", (as) => answerWith(as, "/token", { access_token: "t", token_type: null })],
  [
    "a registration",
    (as) =>
      answerWith(as, "/register", {
        client_id: "known",
        client_secret: null,
        client_secret_expires_at: null,
        token_endpoint_auth_method: null,
        redirect_uris: null,
      }),
  ],
  [
    "the metadata of the authorization server",
    (as) =>
      void (as.metadata = {
        scopes_supported: null,
        revocation_endpoint: null,
        device_authorization_endpoint: null,
        pushed_authorization_request_endpoint: null,
        token_endpoint_auth_methods_supported: null,
        authorization_response_iss_parameter_supported: null,
        dpop_signing_alg_values_supported: null,
        client_id_metadata_document_supported: null,
      }),
  ],
  [
    "the metadata of the resource",
    (as) =>
      void (as.resource = {
        scopes_supported: null,
        dpop_bound_access_tokens_required: null,
        dpop_signing_alg_values_supported: null,
      }),
  ],
];
for (const [what, prepare] of rows) {
  Deno.test(`null is a missing member: ${what}`, () =>
    withScene(async (scene) => {
      prepare(scene.as);
      await signIn(scene);
      assertEquals((await scene.computer.signIns.status("shop")).state, "signed in");
    }));
}

Deno.test("a registration endpoint that is null is none", () =>
  withScene(async ({ as, computer }) => {
    as.metadata = { registration_endpoint: null };
    await assertRejects(() => computer.signIns.start("shop"), SignInError, "registers no clients");
  }));

Deno.test("an error with status 200 is told as that error", () =>
  withScene(async (scene) => {
    const { as, computer } = scene;
    answerWith(as, "/token", { error: "bad_verification_code", error_description: "The code is incorrect." });
    await assertRejects(() => signIn(scene), SignInError, "bad_verification_code: The code is incorrect.");
    answerWith(as, "/token", { ok: false, error: "invalid_code" });
    await assertRejects(() => signIn(scene), SignInError, ": invalid_code");
    answerWith(as, "/register", { error: "invalid_redirect_uri" });
    await assertRejects(() => computer.signIns.start("shop"), SignInError, "invalid_redirect_uri");
    answerWith(as, "/device", { error: "unauthorized_client" });
    as.answers.delete("/register");
    const onDevice = () => computer.signIns.start("shop", { device: true });
    await assertRejects(onDevice, SignInError, "unauthorized_client");
  }));

Deno.test("a device that waits with status 200, as GitHub answers, is asked again; null is missing in its answers", () =>
  withScene(async ({ as, computer }) => {
    answerWith(as, "/device", {
      device_code: "d",
      user_code: "WDJB",
      verification_uri: `${as.issuer}/enter`,
      verification_uri_complete: null,
      expires_in: 600,
      interval: 0.01,
    });
    let asked = 0;
    as.answers.set("/token", () =>
      Response.json(
        asked++ === 0
          ? { error: "authorization_pending" }
          : { access_token: "t", token_type: "bearer", scope: null },
      ));
    const begun = await computer.signIns.start("shop", { device: true });
    assert(begun.kind === "device");
    assertEquals(begun.completeUrl, undefined);
    await within(begun.finished, "the end of the sign-in");
    assertEquals(asked, 2);
  }));
