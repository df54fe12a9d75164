// Sign-ins at the MCP servers of a Computer that runs: over its socket, at its prompt, and before its start.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import type { RunningDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { fillForms } from "../fixtures/sign_in_forms.ts";
import { eventually } from "../fixtures/within.ts";
import { enter, leave, testPrompt } from "../integration/_computer_prompt.ts";
import { ConsoleClient } from "../integration/_console.ts";
import { Desk, urlIn } from "../integration/_sign_in_desk.ts";
import { Key } from "../integration/_terminal_session.ts";

/** A sign-in that waits; without a question, it is gone. */
interface Asked {
  readonly id: string;
  readonly question: { readonly mode: string; readonly url: string; readonly problems: readonly string[] };
}

const isPosix = Deno.build.os !== "windows";

/** A Computer as a service in an office, and the words by which an Agent reaches it. */
async function serve(
  desk: Desk,
  server: SmcpServer,
): Promise<{ computer: RunningDoor; office: readonly string[] }> {
  const office = ["--url", server.url, "--office", "lab"];
  const computer = await desk.place.serve([...office, "--name", "laptop", "--headless", ...desk.config]);
  return { computer, office };
}

/** The status of `guarded` at the running Computer. */
async function stateOf(desk: Desk): Promise<{ status: string; last_error?: string }> {
  const { stdout } = await desk.place.run(["status", "--json"]);
  const { servers } = JSON.parse(stdout);
  return servers.find(({ name }: { name: string }) => name === "guarded");
}

Deno.test({
  name:
    "a running Computer is signed in through its socket, keeps the sign-in over a restart, and is signed out",
  ignore: !isPosix,
  async fn() {
    await using server = await ProtectedServer.open();
    await using hub = await SmcpServer.listen({ port: 0 });
    using desk = new Desk(server.config());
    {
      await using running = (await serve(desk, hub)).computer;
      await running.said("needs sign-in");
      const { status, last_error } = await stateOf(desk);
      assertEquals(status, "needs sign-in");
      assertStringIncludes(last_error ?? "", 'run "auth login guarded"');
      const list = await desk.place.run(["tools"]);
      assertStringIncludes(list.stdout, 'needs a sign-in (run "auth login guarded")');

      await using login = desk.loginAtComputer("guarded");
      await login.url();
      await login.paste("hello?");
      await login.door.stdout.until("paste the whole address");
      await login.paste(await login.fill());
      const { code, stdout } = await login.door.end();
      assertEquals(code, 0);
      assertMatch(stdout, /server "guarded" is running, with \d tools/);
    }
    const { computer, office } = await serve(desk, hub);
    await using running = computer;
    await eventually(() => stateOf(desk), ({ status }) => status === "running", "the server to run");
    const call = ["agent.ts", "call", "echo", ...office, "--name", "bot"] as const;
    assertStringIncludes((await agent(desk, call)).stdout, '"name":"echo"');

    const out = await desk.place.run(["auth", "logout", "guarded"]);
    assertStringIncludes(out.stdout, "revoked");
    await eventually(
      () => stateOf(desk),
      ({ status }) => status === "needs sign-in",
      "the end of the session",
    );
    const refused = await agent(desk, call);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "(4006)");
    assertEquals(running.stderr.text.includes("Bearer"), false);
  },
});

async function agent(desk: Desk, [door, ...args]: readonly ["agent.ts", ...string[]]) {
  return await runHosted(door, args, { env: desk.place.env });
}

Deno.test({
  name: "a sign-in beside a running Computer starts its server",
  ignore: !isPosix,
  async fn() {
    await using server = await ProtectedServer.open();
    await using hub = await SmcpServer.listen({ port: 0 });
    using desk = new Desk(server.config());
    await using running = (await serve(desk, hub)).computer;
    await running.said("needs sign-in");
    await using login = desk.login({}, "guarded");
    await fetch(await login.fill()).then((page) => page.body?.cancel());
    assertEquals((await login.door.end()).code, 0);
    await running.said("MCP server is running again");
  },
});

Deno.test({
  name: "a sign-in by the API of the console waits for the page, and starts the server",
  ignore: !isPosix,
  async fn() {
    await using server = await ProtectedServer.open();
    await using hub = await SmcpServer.listen({ port: 0 });
    using desk = new Desk(server.config());
    const words = ["--url", hub.url, "--office", "lab", "--name", "laptop", "--console", ...desk.config];
    await using running = await desk.place.serve(words);
    await running.said("needs sign-in");
    const client = new ConsoleClient(/^http:\S+#\S+$/m.exec(running.stdout.text)?.[0] ?? "");
    await using events = await client.follow();
    const asked = async () => {
      const { id, question } = (await events.nextOf("waiting")).data as Asked;
      return { id, ...question };
    };
    const login = client.post("/api/auth/login", { arguments: ["guarded"] });
    const { id, mode, url, problems } = await asked();
    assertEquals([mode, problems], ["sign-in", []]);
    const answer = (line: string) =>
      client.post("/api/calls/answer", {
        arguments: [id],
        options: { content: JSON.stringify({ line }) },
      });
    await answer("hello?");
    assertMatch((await asked()).problems[0] ?? "", /paste the whole address/);
    await answer(await fillForms(url));
    const { status, body } = await login;
    assertEquals([status, body.type, body.status], [200, "signed_in", "running"]);

    const again = client.post("/api/auth/login", { arguments: ["guarded"] });
    let next = await asked();
    while (next.id === id) next = await asked();
    await client.post("/api/calls/decline", { arguments: [next.id] });
    assertEquals((await again).status, 503);
  },
});

Deno.test({
  name: "two sign-ins at one port of a running Computer are told apart",
  ignore: !isPosix,
  async fn() {
    await using one = await ProtectedServer.open();
    await using other = await ProtectedServer.open();
    await using hub = await SmcpServer.listen({ port: 0 });
    const oauth = { clientId: "desktop" };
    using desk = new Desk({
      mcpServers: { one: { url: one.mcp, oauth }, other: { url: other.mcp, oauth } },
    });
    await using _running = (await serve(desk, hub)).computer;
    await using first = desk.loginAtComputer("one");
    const { port } = new URL(new URL(await first.url()).searchParams.get("redirect_uri") ?? "");
    await using second = desk.loginAtComputer("other", "--port", port);
    const endOfSecond = await second.fill();
    assertEquals(new URL(endOfSecond).port, port);
    const page = await fetch(endOfSecond);
    assertStringIncludes(await page.text(), "other");
    assertEquals((await second.door.end()).code, 0);
    const stillThere = await fetch(await first.fill());
    assertStringIncludes(await stillThere.text(), "one");
    assertEquals((await first.door.end()).code, 0);
  },
});

Deno.test({
  name: "a process that goes away while it signs in ends the sign-in at the Computer",
  ignore: !isPosix,
  async fn() {
    await using server = await ProtectedServer.open();
    await using hub = await SmcpServer.listen({ port: 0 });
    using desk = new Desk(server.config());
    await using _running = (await serve(desk, hub)).computer;
    await using login = desk.loginAtComputer("guarded");
    const { origin } = new URL(new URL(await login.url()).searchParams.get("redirect_uri") ?? "");
    login.door.kill("SIGINT");
    assertEquals((await login.door.end()).code, 130);
    await eventually(
      () => fetch(origin).then((page) => page.body?.cancel()).then(() => "open", () => "closed"),
      (state) => state === "closed",
      "the end of the listener",
    );
  },
});

Deno.test({
  name: "auth status of a running Computer tells a server that runs without a sign-in from one that needs it",
  ignore: !isPosix,
  async fn() {
    await using server = await ProtectedServer.open();
    await using open = new HttpMcpServer("streamable", {
      tools: [{ name: "t", inputSchema: { type: "object" } }],
    });
    await using hub = await SmcpServer.listen({ port: 0 });
    const guarded = { url: server.mcp };
    using desk = new Desk({ mcpServers: { guarded, open: { url: open.url } } });
    await using running = (await serve(desk, hub)).computer;
    await running.said("needs sign-in");
    const { servers } = await eventually(
      async () => JSON.parse((await desk.place.run(["auth", "status", "--json"])).stdout),
      ({ servers }) => servers[1].state !== "signed out",
      "the open server to run",
    );
    const rows = servers.map(({ name, state }: { name: string; state: string }) => [name, state]);
    assertEquals(rows, [["guarded", "needs sign-in"], ["open", "not OAuth"]]);
    assertStringIncludes(servers[1].remark, "without a sign-in");
  },
});

testPrompt("the prompt tells of a sign-in that is needed, signs in, and goes on", async ({ place, open }) => {
  await using server = await ProtectedServer.open();
  const session = await open({ config: server.config(), columns: 1_000 });
  await session.expect('"guarded" needs a sign-in; run "auth login guarded"');
  assertStringIncludes(await enter(session, "auth status"), "needs sign-in");
  await session.write(`auth login guarded${Key.enter}`);
  await session.expect("address: ");
  const screen = await session.expectScreen((text) => text.includes("address:"));
  await session.write(`nonsense${Key.enter}`);
  await session.expect("paste the whole address");
  const end = await fillForms(urlIn(screen));
  await session.write(`${end}${Key.enter}`);
  await session.expect('server "guarded" is running');
  assertStringIncludes(await enter(session, "call echo"), "echo");
  assertStringIncludes(await enter(session, "auth logout guarded"), "revoked");
  await session.write(`auth login guarded${Key.enter}`);
  const again = await session.expectScreen((text) => text.endsWith("address:"));
  await fetch(await fillForms(urlIn(again.slice(again.lastIndexOf("Open this page"))))).then((page) =>
    page.body?.cancel()
  );
  await session.expect("address: (no longer needed)");
  assertStringIncludes(await enter(session, "auth logout guarded"), "revoked");
  await session.write(`auth login guarded${Key.enter}`);
  await session.expectScreen((text) => text.endsWith("address:"));
  await session.write(Key.ctrlC);
  assertStringIncludes(await enter(session, "auth status guarded"), "needs sign-in");
  await leave(session);
  assertEquals(Deno.readTextFileSync(`${place.folder}/a2c-smcp/history`).includes("code="), false);
});
