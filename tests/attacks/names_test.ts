/** Attacker: a member that wants to pass for another. It takes a name that looks like the other's. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { eventually } from "../fixtures/within.ts";
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
  ...Object.fromEntries(
    [..."\u00a0\u1680\u2000\u2007\u2009\u202f\u205f\u3000"].map((space) => [
      `the space U+${space.charCodeAt(0).toString(16)}`,
      `build${space}server`,
    ]),
  ),
  ...Object.fromEntries(
    [..."\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2212\u301c\ufe58\uff0d"].map((dash) => [
      `the dash U+${dash.charCodeAt(0).toString(16)}`,
      `build${dash}server`,
    ]),
  ),
  "fullwidth letters": "ｌａｐｔｏｐ",
  "mathematical letters": "𝐥𝐚𝐩𝐭𝐨𝐩",
  "a roman numeral": "server ⅳ",
  "a ligature": "oﬃce",
};

/** Names that look alike, in either order. */
const PAIRS: readonly (readonly [name: string, other: string])[] = [
  ["laptop", "Laptop"],
  ["laptop", "lарtор"],
  ["laptop", "Ӏaptop"],
  ["laptop", "1aptop"],
  ["PayPal", "раураӀ"],
  ["MOCKBA", "МОСКВА"],
  ["HOST", "ΗΟЅΤ"],
  ["desk", "desк"],
  ["node-0", "node-O"],
  ["modem", "modern"],
  ["web", "vveb"],
  ["Anna's", "Annaʼs"],
  ["Anna's", "Anna’s"],
  ["build server", "build  server"],
  ["Ŏffice", "Ǒffice"],
  ["scope", "ѕсоре"],
  ["カニ", "力二"],
  ["ハト", "八卜"],
  ["サーバー", "サ一バ一"],
  ["へや", "ヘや"],
  ["host", "hסst"],
  ["bank", "bank\u0332"],
  ["Lena", "Ḷena"],
  ["Γράμμα", "Гра\u0301μμα".normalize("NFC")],
];

/** Names that no person takes for one another. */
const OTHERS = [
  "laptop",
  "desktop",
  "café",
  "cafe",
  "Büro",
  "Buro",
  "机器 1",
  "机器 2",
  "worker-1",
  "worker-2",
  "pc a",
];

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

Deno.test("A Computer whose name looks like that of another one there is refused, until that one has left", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  for (const [index, pair] of PAIRS.entries()) {
    const names = [pair, pair.toReversed()];
    for (const [way, [name = "", other = ""]] of names.entries()) {
      const office_id = `lab ${index} ${way}`;
      await using peer = await RawPeer.connect(server.url);
      {
        await using _first = await RawPeer.join(server.url, { role: "computer", name, office_id });
        const [accepted, reason] = await peer.request("server:join_office", {
          role: "computer",
          name: other,
          office_id,
        });
        assertEquals(accepted, false, `${name} and ${other}`);
        assertStringIncludes(String(reason), "already exists in room");
      }
      await using watching = await RawPeer.join(server.url, { role: "agent", name, office_id });
      await eventually(
        () => watching.request("server:list_room", { office_id, req_id: crypto.randomUUID(), agent: name }),
        (answer) => !JSON.stringify(answer).includes('"computer"'),
        "the first Computer to leave",
      );
      const [accepted] = await peer.request("server:join_office", {
        role: "computer",
        name: other,
        office_id,
      });
      assertEquals(accepted, true, `${other} after ${name} has left`);
    }
  }
});

Deno.test("Computers with names that differ for a reader join one office", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using stack = new AsyncDisposableStack();
  for (const name of OTHERS) {
    stack.use(await RawPeer.join(server.url, { role: "computer", name, office_id: "lab" }));
  }
});
