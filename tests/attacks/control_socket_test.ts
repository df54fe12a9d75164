/** Attacker: a local process. It sends a running Computer commands that are too long, nested, or never finished */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { SmcpServer } from "../../server.ts";
import { controlPath } from "../../src/cli/socket_folder.ts";
import { PACKAGE_VERSION } from "../../src/version.ts";
import { within } from "../fixtures/within.ts";
import { Workplace } from "../integration/_computer_program.ts";

const posixOnly = { ignore: Deno.build.os === "windows" };

/** A Computer that runs as a program, and where it listens for commands. */
async function start(place: Workplace, server: SmcpServer) {
  const config = place.write("config.json", { servers: {} });
  const computer = await place.serve([
    ...["--url", server.url, "--office", "lab"],
    ...["--name", "laptop", "--config", config],
  ]);
  const [folder] = [...Deno.readDirSync(place.folder)].filter(({ name }) => name.startsWith("a2c-smcp-"));
  assert(folder !== undefined, "there is no control folder");
  const path = await controlPath(join(place.folder, folder.name), "laptop");
  return {
    path,
    folder: join(place.folder, folder.name),
    [Symbol.asyncDispose]: () => computer[Symbol.asyncDispose](),
  };
}

/** Sends a text and gives all that is answered until the Computer hangs up. */
async function send(path: string, text: string): Promise<string> {
  using connection = await Deno.connect({ transport: "unix", path });
  const answer = new Response(connection.readable).text().catch(() => "");
  const writer = connection.writable.getWriter();
  writer.write(new TextEncoder().encode(text)).catch(() => {});
  return await within(answer, "the end of the conversation");
}

const request = (words: unknown) => `${JSON.stringify({ version: PACKAGE_VERSION, words, json: false })}\n`;

Deno.test("only the owner can access the socket of a Computer and its folder", posixOnly, async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await start(place, server);
  const modeOf = (path: string) => ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
  assertEquals([modeOf(computer.folder), modeOf(computer.path)], ["700", "600"]);
});

Deno.test(
  "requests that are too long, nested or invalid are disconnected, and the Computer keeps answering",
  posixOnly,
  async () => {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    await using computer = await start(place, server);
    const { path } = computer;
    const deep = `{"version":"${PACKAGE_VERSION}","words":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`;
    for (const text of ["x".repeat(3_000_000), "\0\0\n", "null\n", deep, request([{ toString: 1 }])]) {
      assertEquals(await send(path, text), "");
    }
    for (const words of [["__proto__"], ["constructor"], ["\u001b[2J"]]) {
      assertStringIncludes(await send(path, request(words)), "unknown command");
    }
    assertStringIncludes(await send(path, request(Array(100_000).fill("a"))), "it has 100000 words");
    assertStringIncludes(await send(path, request(["status"])), "laptop");
  },
);

Deno.test("processes that connect and send nothing delay a command, and no more", posixOnly, async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await start(place, server);
  const { path } = computer;
  const silent = await Promise.all(
    Array.from({ length: 70 }, () => Deno.connect({ transport: "unix", path })),
  );
  assertStringIncludes(await send(path, request(["status"])), "laptop");
  for (const connection of silent) connection.close();
});
