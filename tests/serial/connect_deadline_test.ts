import { assertRejects } from "@std/assert";
import { Agent } from "../../agent.ts";
import { ServerUnreachableError } from "../../src/link/errors.ts";
import { within } from "../fixtures/within.ts";

Deno.test({
  name:
    "the time to connect ends in the middle of an attempt: the error is the one that an earlier attempt met",
  // Attempts to connect that fail leave timers of the HTTP client behind.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const served = closeFirst(listener);
    await assertRejects(
      () =>
        Agent.connect({
          url: `http://127.0.0.1:${listener.addr.port}`,
          office: "lab",
          name: "ada",
          timeoutMs: 5_000,
          reconnectDelayMs: 1,
        }),
      ServerUnreachableError,
      "connection closed before an answer",
    );
    for (const connection of await within(served, "the second connection")) connection.close();
  },
});

/** Closes the first connection after its request, and leaves the second one without an answer. */
async function closeFirst(listener: Deno.TcpListener): Promise<readonly Deno.TcpConn[]> {
  const first = await listener.accept();
  await first.read(new Uint8Array(512));
  first.close();
  return [await listener.accept()];
}
