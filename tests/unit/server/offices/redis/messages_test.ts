import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  type ProcessMessage,
  readAnswer,
  readBody,
  readMessage,
  writeArguments,
  writeMessage,
} from "../../../../../src/server/offices/redis/messages.ts";
import { errorCodeOf } from "../../../../../src/server/relay/pending_requests.ts";
import { RawAnswer, RawRequest } from "../../../../../src/server/engine/raw.ts";

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
  { kind: "drop", id: 1, from: "f", sid: "s", mayReturn: true },
  { kind: "replace", from: "f", sessionId: "d", newer: "s", exceptOffice: "lab" },
  { kind: "received", from: "f", bytes: 1 },
];

Deno.test("readMessage(writeMessage(x)) is x, with the text as it was", () => {
  for (const message of messages) {
    for (const text of ["", '["client:x",{"a":"\\n"}]', "two\nlines"]) {
      assertEquals(readMessage(writeMessage(message, text)), { message, text });
    }
  }
});

Deno.test("readMessage() refuses what is incomplete, has no sender or is of another kind", () => {
  for (
    const text of [
      "",
      "ask",
      "ask {}\n",
      'answer {"id":1}\n',
      "toString {}\n",
      "drop null\n",
      'evicted {"id":1,"from":"f"}\n',
    ]
  ) {
    assertEquals(readMessage(text), undefined);
  }
});

Deno.test("arguments without attachments travel as the text in which they came", () => {
  const json = '["client:x",{"a":1e2,"b":"\\u0061"}]';
  const text = writeArguments(["client:x", new RawRequest(json, { body: {}, isTooDeep: false })]);
  assertEquals(text, json);
  const body = readBody(text);
  assert(body instanceof RawRequest);
  assertEquals(body.json, json);
});

Deno.test("an answer keeps the code of the error that it is", () => {
  const answer = [new RawAnswer('[{"code":4002,"message":"m"}]', { code: 4002, message: "m" })];
  const [read] = readAnswer(writeArguments(answer), errorCodeOf(answer));
  assert(read instanceof RawAnswer);
  assertEquals([read.json, read.errorCode], ['[{"code":4002,"message":"m"}]', 4002]);
  const failed = { content: [], isError: true, meta: { error_code: 4004 } };
  assertEquals(errorCodeOf(readAnswer("[{}]", errorCodeOf([failed]))), 4004, "a failed call");
  assertEquals(errorCodeOf(readAnswer("[{}]", undefined)), undefined);
});

Deno.test("attachments travel with the rest, and nothing else can pass for one", () => {
  const bytes = Buffer.from([0, 255, 10]);
  const body = { picture: bytes, list: [bytes], text: "_placeholder", fake: { _placeholder: true, num: 0 } };
  const text = writeArguments(["client:x", body]);
  assertEquals(readBody(text), body);
  assertEquals(readAnswer(text, undefined), ["client:x", body]);
});

Deno.test("arguments that are nested too deep or are no list are refused", () => {
  let deep: unknown = [];
  for (let depth = 0; depth < 200_000; depth++) deep = [deep];
  assertThrows(() => writeArguments([deep]), RangeError);
  assertThrows(() => readAnswer("m {}", undefined), Error);
});
