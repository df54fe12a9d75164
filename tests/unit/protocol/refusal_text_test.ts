import { assertEquals } from "@std/assert";
import { buildRefusalText, parseRefusalText } from "../../../src/protocol/refusal_text.ts";

Deno.test("parseRefusalText() reads what buildRefusalText() wrote, whatever the names in it look like", () => {
  for (
    const message of [
      "Unauthorized: token expired",
      'Cannot join office "lab (2024)": the Server cannot use the store that its processes share (Redis) now',
      `Computer with name 'spare (503)' already exists in room 'lab'`,
      `Computer with name 'spare (503)' already exists in room 'lab'`,
      "Cannot join office 'lab (4101)'",
    ]
  ) {
    assertEquals(parseRefusalText(buildRefusalText({ message, code: 503 })), { reason: message, code: 503 });
  }
});

Deno.test("a code that the sentence has is not written again, and is the one that is read", () => {
  const mismatch = 'Protocol version mismatch (4008): office "lab (2024)" uses 0.2, this connection 0.1';
  assertEquals(buildRefusalText({ message: mismatch, code: 403 }), mismatch);
  assertEquals(parseRefusalText(mismatch), { reason: mismatch, code: 4008 });
  assertEquals(parseRefusalText("Room already has an agent (4101)"), {
    reason: "Room already has an agent",
    code: 4101,
  });
  assertEquals(parseRefusalText("Closed (today)"), { reason: "Closed (today)", code: undefined });
});
