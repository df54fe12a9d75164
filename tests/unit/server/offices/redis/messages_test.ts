import { assertEquals } from "@std/assert";
import {
  type ProcessMessage,
  readMessage,
  writeMessage,
} from "../../../../../src/server/offices/redis/messages.ts";

const messages: readonly ProcessMessage[] = [
  {
    kind: "ask",
    id: 1,
    from: "f",
    sid: "s",
    event: "client:tool_call",
    reqId: "r\n{}",
    agent: "ada",
    computer: "laptop \u2028",
    officeId: "lab",
    isObserving: false,
    timeoutMs: 35_000,
  },
  { kind: "tell", from: "f", sid: "s", officeId: "lab", event: "client:x" },
  { kind: "answer", from: "f", id: 1, errorCode: 404 },
  { kind: "fail", from: "f", id: 1, code: 404, message: "m\n", details: { computer_name: "laptop" } },
  { kind: "drop", id: 1, from: "f", sid: "s" },
  { kind: "evict", id: 1, from: "f", sid: "s" },
  { kind: "evicted", id: 1 },
  { kind: "received", from: "f", bytes: 1 },
];

Deno.test("readMessage(writeMessage(x)) is x, with the text as it was", () => {
  for (const message of messages) {
    for (const text of ["", '["client:x",{"a":"\\n"}]', "two\nlines"]) {
      assertEquals(readMessage(writeMessage(message, text)), { message, text });
    }
  }
});

Deno.test("readMessage() refuses what is incomplete, of another type or of another kind", () => {
  for (
    const text of [
      "",
      "ask",
      "ask {}\n",
      'drop {"id":"1","from":"f","sid":"s"}\n',
      'answer {"id":1}\n',
      "toString {}\n",
      "evicted null\n",
      'evicted {"id":1}',
    ]
  ) {
    assertEquals(readMessage(text), undefined);
  }
});
