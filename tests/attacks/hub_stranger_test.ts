/** Attacker: a stranger at the port of a hub, who has no credential for it. */
import { assertEquals, assertNotMatch } from "@std/assert";
import { join } from "@std/path";
import { doorWords } from "../fixtures/door.ts";
import { HttpDoor } from "../fixtures/http_door.ts";
import { register } from "../fixtures/hub_client.ts";
import { eventually } from "../fixtures/within.ts";
import { RawConnection } from "./_raw_http.ts";

Deno.test("a body that is too large, or is cut off, ends no hub", async () => {
  const folder = await Deno.makeTempDir();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const words = ["--port", "0", "--token", "member", "--state-file", join(folder, "hub.sqlite")];
  const hub = stack.use(await HttpDoor.start(doorWords("hub.ts", words)));
  const head = [
    "POST /oauth/register HTTP/1.1",
    `Host: ${hub.url.host}`,
    "Content-Type: application/json",
    "Content-Length: 1000000",
  ].join("\r\n");
  {
    await using large = new RawConnection(Number(hub.url.port));
    large.write(`${head}\r\n\r\n${"x".repeat(200_000)}`);
    await large.until("the refusal", (received) => received.startsWith("HTTP/1.1 400"));
    await large.untilClosed();
  }
  {
    await using cut = new RawConnection(Number(hub.url.port));
    cut.socket.end(`${head}\r\n\r\n{`);
    await cut.untilClosed();
  }
  {
    await using cut = new RawConnection(Number(hub.url.port));
    const form = head.replace("register", "token").replace("json", "x-www-form-urlencoded");
    cut.socket.end(`${form}\r\n\r\nclient_id=`);
    await cut.untilClosed();
  }
  const response = await register(hub.url.origin);
  await response.body?.cancel();
  assertEquals(response.status, 201);
  const refusals = () => hub.program.stderr.text.split(/request=(?:register|grant)/).length - 1;
  await eventually(refusals, (count) => count === 3, "the refusals in the log");
  assertNotMatch(hub.program.stderr.text, /ERROR/);
});
