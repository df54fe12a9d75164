/** Attacker: another user of the machine. They reach the port of the owner's page, and have not its token */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { SmcpServer } from "../../server.ts";
import { Chromium, hasChromium } from "../fixtures/chromium.ts";
import { eventually } from "../fixtures/within.ts";
import { ConsoleClient } from "../integration/_console.ts";
import { AttackedConsole, WANTED } from "./_console.ts";
import { exchange, RawConnection, toText } from "./_raw_http.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

Deno.test("Without the token, with a wrong one, or with the right one elsewhere, the API tells nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { port, client: { token } } = attacked;
  const shown: readonly Record<string, string>[] = [
    {},
    ...["", "x", token.slice(1), `${token}x`, token.toUpperCase(), `${token},${token}`]
      .map((text) => ({ Authorization: `Bearer ${text}` })),
    { Authorization: token },
    { Authorization: `Basic ${btoa(`owner:${token}`)}` },
    { Cookie: `token=${token}` },
    { "X-Api-Key": token },
  ];
  for (const headers of shown) {
    const answers = WANTED.map(async ({ target, ...request }) =>
      await exchange(port, {
        ...request,
        target: `${target}?token=${token}`,
        headers: { ...headers, ...JSON_TYPE },
      })
    );
    for (const { status, body } of await Promise.all(answers)) {
      // The same answer for what exists and what does not.
      assertEquals(status, 401, JSON.stringify(headers));
      assertStringIncludes(body, "Show the token");
    }
  }
  await attacked.assertUntouched();
});

Deno.test("The port is on loopback alone", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const others = Deno.networkInterfaces().filter(({ family, address }) =>
    family === "IPv4" && !address.startsWith("127.")
  );
  for (const { address } of [...others, { address: "127.0.0.2" }]) {
    const connection = await Deno.connect({ hostname: address, port: attacked.port }).catch(() => undefined);
    connection?.close();
    assertEquals(connection, undefined, address);
  }
});

/** What `console` starts the browser with, and what it prints. */
async function openPage(
  { place }: AttackedConsole,
): Promise<{ readonly seen: string; readonly link: string }> {
  const file = place.write("seen", "");
  const opener = place.write("xdg-open", `#!/bin/sh\nprintf %s "$*" > ${file}\n`);
  Deno.chmodSync(opener, 0o700);
  const { stdout } = await place.run(["console"], {
    cwd: place.folder,
    env: { PATH: `${place.folder}:${Deno.env.get("PATH")}` },
  });
  const seen = await eventually(
    () => Deno.readTextFileSync(file),
    (text) => text !== "",
    "the browser's start",
  );
  return { seen, link: stdout.trim() };
}

Deno.test({
  name: "The arguments of the browser's process have no token, and the page that leads there is private",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    await using attacked = await AttackedConsole.open(server);
    const { client } = attacked;
    const { seen, link } = await openPage(attacked);
    assertEquals(link, `${client.origin}/#${client.token}`);
    assert(!seen.includes(client.token), seen);
    const page = fromFileUrl(seen);
    assertStringIncludes(Deno.readTextFileSync(page), client.token);
    const modes = [page, page.slice(0, page.lastIndexOf("/"))]
      .map((path) => (Deno.statSync(path).mode ?? 0) & 0o777);
    assertEquals(modes, [0o600, 0o700]);
  },
});

Deno.test({
  name: "That private page leads the owner's browser to theirs",
  ignore: Deno.build.os !== "linux" || !hasChromium,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    await using attacked = await AttackedConsole.open(server);
    const { seen } = await openPage(attacked);
    await using browser = await Chromium.open();
    await browser.goTo(seen);
    await browser.textWith("laptop");
    const address = String(await browser.evaluate("location.href"));
    assert(address.startsWith(attacked.client.origin), address);
  },
});

Deno.test("A body without the token is not read, however long it is", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { port } = attacked;
  const long = { ...JSON_TYPE, "Content-Length": String(1e9), Connection: "keep-alive" };
  await using connection = new RawConnection(port);
  connection.write(toText(port, { method: "POST", target: "/api/call", headers: long, body: "[" }));
  connection.write(new Uint8Array(1_000_000).fill(0x5b));
  await connection.untilClosed();
  assertStringIncludes(connection.received, "401");
  await attacked.assertUntouched();
});

Deno.test("Connections that send nothing, or half a request, keep the owner out of nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  await using stack = new AsyncDisposableStack();
  const silent = Array.from({ length: 300 }, (_, n) => {
    const connection = stack.use(new RawConnection(attacked.port));
    if (n % 2 === 0) connection.write("POST /api/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le");
    return connection;
  });
  let open = silent.length;
  for (const { closed } of silent) void closed.then(() => open--);
  await eventually(() => open, (open) => open <= 64, "the end of the oldest connections");
  await attacked.assertUntouched();
});

Deno.test("A token is good no more when its console is closed, also at a console that opens later", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { place, client } = attacked;
  assertEquals((await place.run(["console", "--stop"])).stdout.trim(), "the console is closed");
  await eventually(
    () => fetch(client.origin).then(() => true, () => false),
    (open) => !open,
    "the port to close",
  );
  const { stdout } = await place.run(["console", "--no-open"]);
  const later = new ConsoleClient(stdout.trim());
  assertEquals((await later.get("/api/status")).status, 200);
  const { status } = await exchange(later.port, {
    target: "/api/status",
    headers: { Authorization: `Bearer ${client.token}` },
  });
  assertEquals(status, 401);
});
