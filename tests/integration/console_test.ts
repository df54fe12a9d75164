import { assertEquals, assertMatch } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { ConsoleClient } from "./_console.ts";
import { Workplace } from "./_computer_program.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";

const posixOnly = { ignore: Deno.build.os === "windows" };

/** A Computer that runs as a program. */
async function start(place: Workplace, server: SmcpServer, args: readonly string[] = []) {
  const config = place.write("config.json", scriptedServers({ box: {} }));
  const address = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  return await place.serve([...address, ...args]);
}

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/m;

Deno.test(
  "`console` prints the link of a running Computer, and prints the same one again",
  posixOnly,
  async () => {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    await using _computer = await start(place, server);
    const first = await place.run(["console", "--no-open"]);
    const second = await place.run(["console", "--no-open", "--json"]);
    assertMatch(first.stdout, LINK);
    assertEquals(JSON.parse(second.stdout), { url: first.stdout.trim(), opened: false });
  },
);

Deno.test(
  "`computer --console` prints the link at the start; its API runs the commands, with words in bounds, and without its standard input",
  posixOnly,
  async () => {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    await using computer = await start(place, server, ["--console"]);
    const [link = ""] = LINK.exec(computer.stdout.text) ?? [];
    const client = new ConsoleClient(link);
    const { status, body } = await client.get("/api/status");
    assertEquals([status, body.name, body.office], [200, "laptop", "lab"]);
    const page = await (await fetch(`${client.origin}/`)).text();
    const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const { headers, ok } = await fetch(new URL(script, client.origin), { method: "HEAD" });
    assertEquals([ok, headers.get("content-type")], [true, "text/javascript; charset=utf-8"]);
    for (const options of [{ params: "-" }, { answers: "-" }]) {
      const { status, body } = await client.post("/api/call", { arguments: ["echo"], options });
      assertEquals(status, 400);
      assertMatch(body.error, /standard input.*another process/);
    }
    const many = await client.post("/api/call", { arguments: new Array(500_000).fill(1) });
    assertEquals(many.status, 400);
    assertMatch(many.body.error, /words/);
  },
);
