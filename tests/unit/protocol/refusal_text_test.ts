import { assertEquals } from "@std/assert";
import {
  buildRefusalText,
  buildVersionRefusalText,
  parseRefusalText,
  parseVersionRefusalText,
} from "../../../src/protocol/refusal_text.ts";

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

Deno.test("parseVersionRefusalText() reads the version of the office, whatever its name looks like", () => {
  for (const office of ["lab", 'x" uses 0.3, this connection 0.2', 'Protocol version mismatch (4008): "']) {
    const text = buildVersionRefusalText({ office, used: "0.4", sent: "0.2" });
    assertEquals(parseVersionRefusalText(text), "0.4");
    assertEquals(parseVersionRefusalText(`Cannot join office "${text}": full`), undefined);
  }
  const unknown = buildVersionRefusalText({ office: "lab", used: "0.9", sent: "0.2" });
  assertEquals(parseVersionRefusalText(unknown), undefined);
});
