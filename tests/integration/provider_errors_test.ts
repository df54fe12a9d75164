import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Computer } from "../../computer.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { describeError } from "../../src/text/text.ts";

const SERVER_FILE = fromFileUrl(new URL("../fixtures/failing_kit_server.ts", import.meta.url));

Deno.test("an exception in a callback of the kit reaches the log of its server with its stack", async () => {
  const server_parameters = {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-check", "--no-lock", "--quiet", SERVER_FILE],
  };
  const logger = new LogBook();
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: { failing: { type: "stdio", server_parameters } } },
    logger,
  });
  await computer.ready({ timeoutMs: 30_000 });
  const messages: string[] = [];
  for (const uri of ["window://com.example.failing", "dpe://com.example.failing-documents/broken/pages/0"]) {
    await computer.readResource(uri).catch((error) => messages.push(describeError(error)));
  }
  assertEquals(messages.length, 2);
  assertEquals(messages.join().includes("kaboom"), false);
  for (const message of messages) assertStringIncludes(message, '"server logs failing" on its Computer');
  assertEquals((await computer.getFinder()).documents, []);
  const [told] = logger.of("warn").filter(({ fields }) => String(fields["uri"]).endsWith("/broken"));
  assertEquals([told?.message, told?.fields["see"]], ["cannot read a resource", "server logs failing"]);
  const log = computer.serverLog("failing").join("\n");
  assertStringIncludes(log, `Cannot answer resources/read of "window://com.example.failing"`);
  assertMatch(log, /kaboom in read[\s\S]+at [\s\S]*readWindow .*failing_kit_server\.ts/);
  assertMatch(log, /kaboom in pages[\s\S]+at .*failing_kit_server\.ts/);
});
