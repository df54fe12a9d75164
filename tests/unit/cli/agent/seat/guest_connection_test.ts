import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { GuestConnection } from "../../../../../src/cli/agent/seat/guest_connection.ts";
import { LineChannel } from "../../../../../src/cli/line_channel.ts";
import { connectLocally, listenLocally } from "../../../../../src/cli/local_socket.ts";
import { ConnectionClosedError } from "../../../../../src/link/errors.ts";
import { TempFolder } from "../../../../fixtures/temp_folder.ts";

Deno.test("a request to a holder that ended before, unnoticed, was not sent", async () => {
  using folder = new TempFolder();
  const path = join(folder.path, "seat.sock");
  const listener = await listenLocally(path);
  const accepted = listener[Symbol.asyncIterator]().next();
  const context = { signal: new AbortController().signal, timeoutMs: 100_000, onEvent() {} };
  const opening = GuestConnection.open(await connectLocally(path), context);
  const { value: socket } = await accepted;
  const holder = new LineChannel(socket);
  await holder.send({ hello: { protocol: "0.2", maxPayloadBytes: 1_000 } });
  const { connection } = await opening;
  holder.close();
  // A pipe of Windows is closed after this turn of the event loop; the guest reads that in a later one.
  await new Promise((resolve) => setTimeout(resolve));
  const asked = connection.request("client:tool_call", {}, 100_000);
  const { isUnsent } = await assertRejects(() => asked, ConnectionClosedError);
  assertEquals(isUnsent, true);
  listener.close();
});
