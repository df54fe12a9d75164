import { assertEquals } from "@std/assert";
import { clientNamedIn, toRequester } from "../../../src/protocol/call.ts";

// proves: ext-client-name
Deno.test("a requester is the Agent's name, a slash and the name of its client", () => {
  assertEquals(toRequester("hub", "Claude"), "hub/Claude");
  assertEquals(toRequester("hub", undefined), "hub");
  assertEquals(clientNamedIn("hub/Claude", "hub"), "Claude");
});

Deno.test("the name of a client is cut to 64 characters, and what cannot be seen is left out", () => {
  assertEquals(toRequester("hub", "é".repeat(100)), `hub/${"é".repeat(64)}`);
  assertEquals(toRequester("hub", "🦕".repeat(100)), `hub/${"🦕".repeat(64)}`);
  assertEquals(toRequester("hub", " \u0007Clau\u202ede\n\u0000 "), "hub/Clau de");
  assertEquals(toRequester("hub", "\u0000\u200b \ud800"), "hub");
  assertEquals(toRequester("hub", "x".repeat(1_000_000)), `hub/${"x".repeat(64)}`);
});

Deno.test("only a name that begins with that of the session names a client", () => {
  for (const claimed of ["hub", "hub/", "other/Claude", "hubs/Claude", ""]) {
    assertEquals(clientNamedIn(claimed, "hub"), undefined, claimed);
  }
  assertEquals(clientNamedIn("hub/Claude", undefined), undefined);
  assertEquals(clientNamedIn("a/b/c", "a/b"), "c");
});
