import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseTokenList } from "../../../../src/server/admission/token_list.ts";
import { FileContentError } from "../../../../src/files/watched_files.ts";

/** What was read, without the places and what is absent. */
function read(text: string): unknown[] {
  return parseTokenList(text).map(({ place: _place, ...token }) =>
    Object.fromEntries(Object.entries(token).filter(([, value]) => value !== undefined))
  );
}

Deno.test("a token file may have one token a line, and nothing else", () => {
  const two = [{ token: "first" }, { token: "second" }];
  assertEquals(read("first\n  second  \n\n"), two);
  assertEquals(read("\uFEFFfirst\r\nsecond\r\n"), two);
  assertEquals(read("dG9rZW4=\nkey=value"), [{ token: "dG9rZW4=" }, { token: "key=value" }]);
});

Deno.test("attributes after a token say what it allows", () => {
  assertEquals(read("# Laptops\ns3cret name=laptop offices=lab,den roles=computer expires=2030-01-31"), [{
    token: "s3cret",
    name: "laptop",
    offices: ["lab", "den"],
    roles: ["computer"],
    expiresAtMs: Date.UTC(2030, 0, 31, 23, 59, 59, 999),
  }]);
  assertEquals(read("t\troles=agent,observer"), [{ token: "t", roles: ["agent", "observer"] }]);
  assertEquals(read("t offices=*"), [{ token: "t" }]);
  assertEquals(read("t expires=2030-01-31T12:00:00+02:00"), [
    { token: "t", expiresAtMs: Date.UTC(2030, 0, 31, 10) },
  ]);
});

Deno.test("a line may end with a comment", () => {
  assertEquals(read("t name=ada offices=lab   # the laptop of Ada, offices=den # again"), [
    { token: "t", name: "ada", offices: ["lab"] },
  ]);
  assertEquals(read("t\t#\nu #v\na#b\nw offices=#1"), [
    { token: "t" },
    { token: "u" },
    { token: "a#b" },
    { token: "w", offices: ["#1"] },
  ]);
});

Deno.test("a line with a slip of the pen is refused, and does not become another token", () => {
  const slips = [
    "s3cret offices lab",
    "s3cret offices=lab, den roles=agent",
    "s3cret offices = lab",
    "s3cret name=laptop s3cret2",
    "s3cret // the laptop",
    "s3cret; offices=lab",
    "s3cret, offices=lab",
  ];
  for (const slip of slips) {
    const error = assertThrows(() => parseTokenList(`good\n${slip}`), FileContentError, "line 2", slip);
    assertStringIncludes(error.message, "TOKEN name=… offices=a,b");
    assert(!error.message.includes("s3cret"), error.message);
  }
});

Deno.test("a line whose token is missing makes no token of its attributes", () => {
  for (const line of [" name=ada offices=lab", "roles=agent", "expires=2030-01-01 name=a"]) {
    assertThrows(() => parseTokenList(line), FileContentError, "line 1 has no token", line);
  }
  assertEquals(parseTokenList("secret= name=ada").length, 1);
});

Deno.test("a token file may be JSON, for tokens, names and offices with spaces and commas", () => {
  const entries = [{ token: "correct horse; battery #2", name: "Ada L.", offices: ["the lab, upstairs"] }, {
    token: "b",
    roles: [],
  }];
  assertEquals(read(JSON.stringify(entries)), entries);
  assertEquals(read('[{"token":"a","offices":["x","*"]}]'), [{ token: "a" }]);
});

Deno.test("office ids and names are read in normalization form C, as members send them", () => {
  assertEquals(read("t name=u\u0308 offices=cafe\u0301"), [{ token: "t", name: "ü", offices: ["café"] }]);
});

Deno.test("a line that is not understood is refused by its number, and no token is quoted", () => {
  const bad: Readonly<Record<string, string>> = {
    "": "no token",
    "# only a comment": "no token",
    "good\ns3cret office=lab": 'line 2 has an unknown attribute "office"',
    '[{"s3cret":"lab"}]': "entry 1 has an unknown attribute;",
    "s3cret roles=admin": "line 1",
    "s3cret roles=": "line 1",
    "s3cret offices=": "line 1",
    "s3cret offices=lab,,den": "line 1",
    "s3cret name=a name=b": "twice",
    "s3cret token=b": "twice",
    "s3cret __proto__=b": "unknown",
    "s3cret expires=soon": "expires",
    "s3cret expires=2030-02-31T10:00": "expires",
    "s3cret expires=2030-02-31": "expires",
    "s3cret expires=2030-13-01": "expires",
    "sha256:s3cret": "64",
    "[s3cret": "JSON",
    '[{"token":"s3cret","office":["lab"]}]': "entry 1",
    '[{"token":""}]': "entry 1",
    '[{"token":5}]': "entry 1",
    '["s3cret"]': "entry 1",
    '[{"token":"s3cret","offices":"lab"}]': "offices",
    '[{"token":"s3cret","offices":[1]}]': "offices",
    '[{"token":"s3cret","__proto__":{}}]': "entry 1",
  };
  for (const [text, part] of Object.entries(bad)) {
    const error = assertThrows(() => parseTokenList(text), FileContentError, part, text);
    assert(!error.message.includes("s3cret"), error.message);
  }
});
