/** Attacker: a member that wants to pass for another. It takes a name that looks like the other's. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  "a space behind it": "laptop ",
  "a space before it": " laptop",
  "a no-break space behind it": "laptop\u00a0",
  "a zero-width space": "lap\u200btop",
  "a word joiner": "lap\u2060top",
  "a byte order mark": "\ufefflaptop",
  "a soft hyphen": "lap\u00adtop",
  "a right-to-left override": "\u202epotpal",
  "an isolate": "\u2066laptop\u2069",
  "a variation selector": "laptop\ufe0f",
  "a tag character": "laptop\u{e0041}",
  "a Hangul filler": "\u3164",
  "nothing but spaces": "   ",
  "nothing but a blank Braille pattern": "\u2800",
  "a line separator": "laptop\u2028",
  "half of a surrogate pair": "laptop\ud83d",
  "a letter and its accent apart": "cafe\u0301",
  "an escape sequence": "\u001b[2Klaptop",
};

Deno.test("A name or an office id that looks like another is refused, and the refusal names the field", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using laptop = await RawPeer.join(server.url, { role: "computer", name: "laptop", office_id: "lab" });
  await using peer = await RawPeer.connect(server.url);
  for (const [what, text] of Object.entries(LOOK_ALIKES)) {
    for (const field of ["name", "office_id"]) {
      const membership = { role: "computer", name: "other", office_id: "lab", [field]: text };
      const [accepted, reason] = await peer.request("server:join_office", membership);
      assertEquals(accepted, false, `${field} with ${what}`);
      assertStringIncludes(String(reason), `"${field}"`);
    }
  }
  assert((await laptop.settled()).length === 0, "the office heard of a refused join");
});
