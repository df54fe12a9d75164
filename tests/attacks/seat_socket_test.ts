/** Attacker: a broken program of the same user. It speaks nonsense to the holder of a shared seat */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { within } from "../fixtures/within.ts";
import { WindowOffice } from "../integration/_windows.ts";

/** Sends a text to a socket, and resolves to all that comes back until it is closed. */
async function say(path: string, text: string): Promise<string> {
  using socket = await Deno.connect({ transport: "unix", path });
  await socket.write(new TextEncoder().encode(text));
  let said = "";
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  // A side that closes with unread bytes resets the connection.
  const next = () => socket.read(buffer).catch(() => null);
  for (let size = await next(); size !== null; size = await next()) {
    said += decoder.decode(buffer.subarray(0, size), { stream: true });
  }
  return said;
}

Deno.test({
  name: "nonsense on the socket of a seat costs its sender the connection, and nobody else",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using office = await WindowOffice.open();
    await using client = await office.client();
    assertEquals((await client.call("echo")).isError, false);
    const folder = join(office.folder, "a2c-smcp", "seats");
    const [socket = ""] = [...Deno.readDirSync(folder)].map(({ name }) => name)
      .filter((name) => name.endsWith(".sock"));
    const path = join(folder, socket);
    for (
      const text of ["nonsense\n", "[]\n", '{"seat":1}\n{"id":"x"}\n', '{"seat":1}\n{"id":1}\n', "\u0000\n"]
    ) {
      await within(say(path, text), `the end of a connection after ${JSON.stringify(text)}`);
    }
    const refusal = await within(say(path, '{"seat":99}\n'), "the end of a newer program's connection");
    assertMatch(refusal, /"ended":"the program that holds the seat is of another version/);
    const calls = await Promise.all([client.call("echo", { n: 1 }), client.call("echo", { n: 2 })]);
    assertEquals(calls.map(({ isError }) => isError), [false, false]);
  },
});
