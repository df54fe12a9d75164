/** Attacker: another user of the machine, who sees the names of pipes and not the files of this user. */
import { assertEquals, assertRejects } from "@std/assert";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { connectLocally, listenLocally } from "../../../src/cli/local_socket.ts";
import { isWindows } from "../../fixtures/system.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";
import { within } from "../../fixtures/within.ts";

function test(name: string, fn: (path: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !isWindows,
    async fn() {
      using folder = new TempFolder();
      await fn(`${folder.path}\\desk.sock`);
    },
  });
}

test("a program that does not know the token of a pipe is nobody's peer", async (path) => {
  const listener = await listenLocally(path);
  const accepted = listener[Symbol.asyncIterator]().next();
  const stranger = connect(JSON.parse(await Deno.readTextFile(path)).name);
  const ended = once(stranger, "close");
  // A number, and a proof that is none.
  stranger.write("0".repeat(128));
  stranger.resume();
  await within(ended, "the end of the stranger's connection");
  const peer = await connectLocally(path);
  await peer.write(new TextEncoder().encode("hello"));
  const { value } = await within(accepted, "the connection of a peer");
  const { value: heard } = await value.readable.getReader().read();
  assertEquals(new TextDecoder().decode(heard), "hello");
  peer.close();
  value.close();
  listener.close();
});

test("a pipe that somebody else has made in the place of a program that was killed gets no request", async (path) => {
  const name = `\\\\.\\pipe\\a2c-smcp-${crypto.randomUUID()}`;
  await Deno.writeTextFile(path, JSON.stringify({ name, token: "only in the file" }));
  const heard: string[] = [];
  const squatter = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => void heard.push(String(data)));
    // What it hears is its own number and its own proof.
    socket.on("data", (data) => void socket.write(data));
  });
  squatter.listen(name);
  await once(squatter, "listening");
  await assertRejects(() => connectLocally(path), Deno.errors.PermissionDenied, "without its token");
  assertEquals(heard.join("").length, 128);
  const closed = once(squatter, "close");
  squatter.close();
  await within(closed, "the end of the squatter");
});
