/** Sign-ins at an authorization server that nobody of this project wrote, and what becomes of their tokens. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import {
  Computer,
  fileTokenStore,
  memoryTokenStore,
  type StoredSignIn,
  type TokenStore,
} from "../../computer.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { fillForms } from "../fixtures/sign_in_forms.ts";
import { within } from "../fixtures/within.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** Opens a Computer and waits for the first state of its MCP server. */
async function openComputer(
  server: ProtectedServer,
  tokens: TokenStore,
  logger = new LogBook(),
): Promise<Computer> {
  const computer = Computer.open({ name: "laptop", config: server.config(), tokens, logger });
  await computer.ready();
  return computer;
}

async function signIn(computer: Computer): Promise<void> {
  const begun = await computer.signIns.start("guarded");
  assert(begun.kind === "browser");
  await begun.finish(await fillForms(begun.url));
  await begun.finished;
}

/** A server, and a file with the tokens of somebody who has signed in. */
async function withTokens(
  use: (server: ProtectedServer, tokens: TokenStore) => Promise<void>,
): Promise<void> {
  using folder = new TempFolder();
  await using server = await ProtectedServer.open();
  const tokens = fileTokenStore(join(folder.path, "tokens.json"));
  {
    await using computer = await openComputer(server, tokens);
    await signIn(computer);
  }
  await use(server, tokens);
}

/** Lets time pass: the token is to be renewed now. */
async function age(tokens: TokenStore): Promise<void> {
  const [signIn] = await tokens.read("guarded");
  assert(signIn?.tokens !== undefined);
  const aged = { ...signIn, tokens: { ...signIn.tokens, renewAtMs: 0 } };
  await tokens.update(signIn, () => Promise.resolve(aged));
}

/** Has a token revoked, as the owner of the account does on a page of the provider. */
async function revoke(
  server: ProtectedServer,
  signIn: StoredSignIn | undefined,
  token: string | undefined,
): Promise<void> {
  const body = new URLSearchParams({ token: token ?? "", client_id: signIn?.client.clientId ?? "" });
  const response = await fetch(`${server.issuer}/token/revocation`, { method: "POST", body });
  await response.body?.cancel();
  assertEquals(response.status, 200);
}

function countOf(server: ProtectedServer, path: string): number {
  return server.posts.filter((each) => each === path).length;
}

Deno.test("a Computer that starts again renews an old token once, and 50 calls use the new one", async () => {
  await withTokens(async (server, tokens) => {
    const before = countOf(server, "/token");
    await age(tokens);
    await using computer = await openComputer(server, tokens);
    assertEquals(computer.servers.get("guarded")?.status, "running");
    const results = await Promise.all(Array.from({ length: 50 }, () => computer.callTool("echo", {})));
    assertEquals(results.filter(({ isError }) => isError === true), []);
    assertEquals(countOf(server, "/token") - before, 1);
  });
});

Deno.test("two Computers that share their tokens renew an old one once together", async () => {
  await withTokens(async (server, tokens) => {
    await using one = await openComputer(server, tokens);
    await using other = await openComputer(server, tokens);
    const before = countOf(server, "/token");
    await age(tokens);
    const call = (computer: Computer) => computer.callTool("echo", {});
    const results = await Promise.all(Array.from({ length: 25 }, () => [call(one), call(other)]).flat());
    assertEquals(results.filter(({ isError }) => isError === true), []);
    assertEquals(countOf(server, "/token") - before, 1);
  });
});

Deno.test("a revoked refresh token ends the session at its next renewal, and a new sign-in begins one", async () => {
  await withTokens(async (server, tokens) => {
    const log = new LogBook();
    await using computer = await openComputer(server, tokens, log);
    const [stored] = await tokens.read("guarded");
    await revoke(server, stored, stored?.tokens?.refreshToken);

    const needed = log.next(stateOf("guarded", "needs sign-in"));
    assertEquals((await computer.callTool("echo", {})).meta?.error_code, 4006);
    await needed;
    const running = log.next(stateOf("guarded", "running"));
    await signIn(computer);
    await running;
    assertEquals((await computer.callTool("echo", {})).isError, false);
  });
});

Deno.test("a client for a device registers itself without an address to come back to", async () => {
  await using server = await ProtectedServer.open();
  const log = new LogBook();
  await using computer = await openComputer(server, memoryTokenStore(), log);
  const running = log.next(stateOf("guarded", "running"));
  const begun = await computer.signIns.start("guarded", { device: true });
  assert(begun.kind === "device");
  await fillForms(begun.completeUrl ?? begun.url, { endsAtIssuer: true, userCode: begun.userCode });
  await within(begun.finished, "the end of the sign-in");
  await running;
});

Deno.test("a sign-in that the authorization server refuses says its reason in words", async () => {
  await using server = await ProtectedServer.open();
  await using computer = Computer.open({
    name: "laptop",
    config: server.config({ clientId: "unknown" }),
  });
  await computer.ready();
  const start = () => computer.signIns.start("guarded", { device: true });
  await assertRejects(start, Error, "invalid_client: client authentication failed");
});
