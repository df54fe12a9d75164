import { assertEquals } from "@std/assert";
import { readJoinAck } from "../../../src/link/join.ts";
import { SmcpError, toErrorAck } from "../../../src/protocol/errors.ts";

Deno.test("readJoinAck() reads an acceptance in all its forms", () => {
  for (const answer of [[true, null], [true], [], [null], [{}]]) {
    assertEquals(readJoinAck(answer), { accepted: true });
  }
});

Deno.test("readJoinAck() reads a refusal and its reason", () => {
  assertEquals(readJoinAck([false, "office is closed"]), {
    accepted: false,
    reason: "office is closed",
    code: undefined,
    isPassing: false,
  });
  assertEquals(readJoinAck([false]), {
    accepted: false,
    reason: "no reason given",
    code: undefined,
    isPassing: false,
  });
  assertEquals(
    readJoinAck([
      toErrorAck(new SmcpError(403, "Not you"), "server:join_office"),
    ]),
    {
      accepted: false,
      reason: "Not you",
      code: 403,
      isPassing: false,
    },
  );
});

Deno.test("readJoinAck() reads the code in a text, and takes it from its end", () => {
  const read = (text: string) => {
    const answer = readJoinAck([false, text]);
    return answer.accepted ? [] : [answer.reason, answer.code, answer.isPassing];
  };
  assertEquals(read("Not granted (403)"), ["Not granted", 403, false]);
  assertEquals(read("Cannot join now: try again (503)"), ["Cannot join now: try again", 503, true]);
  assertEquals(read("Too many members (429)"), ["Too many members", 429, true]);
  const mismatch = "Protocol version mismatch (4008): room 'lab' uses 0.2";
  assertEquals(read(mismatch), [mismatch, 4008, false]);
  assertEquals(read("Closed (today)"), ["Closed (today)", undefined, false]);
});

Deno.test("readJoinAck() knows a taken name or seat, which may be what is left of a lost connection", () => {
  for (
    const answer of [
      [false, "Room already has an agent"],
      [false, "Computer with name 'laptop' already exists in room 'lab' (403)"],
      [false, "Room already has an agent (4101)"],
      [false, "Computer 'laptop' already exists in room 'lab'"],
      [false, "Internal server error: Agent already in room"],
      [false, "Internal server error: Name 'ada' already registered by sid 'x' in namespace /smcp"],
      [{ code: 4101, message: "Full" }],
      [{ error: { code: 4101, message: "Full" } }],
    ]
  ) {
    const read = readJoinAck(answer);
    assertEquals([read.accepted, !read.accepted && read.isPassing], [false, true]);
  }
});

Deno.test("readJoinAck() reads a reason without the words that the caller says itself", () => {
  const intents = ['Cannot join office "lab"', 'Cannot handle "server:join_office"'];
  const read = (text: string) => {
    const answer = readJoinAck([false, text], intents);
    return answer.accepted ? "" : answer.reason;
  };
  assertEquals(read('Cannot join office "lab": too many offices (429)'), "too many offices");
  assertEquals(read('Cannot handle "server:join_office": too many requests (429)'), "too many requests");
  assertEquals(
    read('Cannot join office "lab2": too many offices (429)'),
    'Cannot join office "lab2": too many offices',
  );
  assertEquals(read("The office is closed"), "The office is closed");
});

Deno.test("readJoinAck() does not take a connection that is in another office for a taken seat", () => {
  const read = readJoinAck([false, "Internal server error: Agent sid already in room"]);
  assertEquals([read.accepted, !read.accepted && read.isPassing], [false, false]);
});
