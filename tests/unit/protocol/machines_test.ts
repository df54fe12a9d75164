import { assertEquals } from "@std/assert";
import { parseJoinStarted } from "../../../src/protocol/machines.ts";

const STARTED = { handle: "h", code: "2T88-T2JJ", link: "http://hub.example/", expires_in: 600, interval: 3 };

Deno.test("parseJoinStarted() takes no code and no link that a person should not copy, and no time without an end", () => {
  assertEquals(parseJoinStarted(STARTED), STARTED);
  const wrong = [
    { code: "A; rm -rf ~" },
    { code: "AAAA-BBBB\nLink  http://evil" },
    { link: "see below" },
    { expires_in: 1e300 },
    { interval: -1 },
  ];
  assertEquals(wrong.map((each) => parseJoinStarted({ ...STARTED, ...each })), wrong.map(() => undefined));
  const { link } = parseJoinStarted({ ...STARTED, link: "http://hub.example/\u001b[2J\u202e" }) ?? {};
  assertEquals(link, "http://hub.example/%1B[2J%E2%80%AE");
});
