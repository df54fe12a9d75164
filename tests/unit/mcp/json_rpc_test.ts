import { assertEquals } from "@std/assert";
import { readMessages, readUnparsable } from "../../../src/mcp/json_rpc.ts";

const base = { jsonrpc: "2.0" } as const;
const PARSE_ERROR = { code: -32700, message: "its answer cannot be read" };

Deno.test("readMessages() reads requests, notifications, results and errors, with null as a missing member", () => {
  const ask = { method: "ping", ...base, id: "a" };
  const tell = { method: "notifications/x", params: { a: 1 }, ...base };
  const result = { ...base, id: 1, result: {} };
  const failure = { ...base, id: 1, error: { code: -1, message: "no" } };
  assertEquals(readMessages([ask, tell, result, failure]), [ask, tell, result, failure]);
  assertEquals(readMessages({ ...ask, params: null, id: null }), [{ method: "ping", ...base }]);
  for (const falsy of [null, false, ""]) assertEquals(readMessages({ ...result, error: falsy }), [result]);
  assertEquals(readMessages({ ...failure, result: null }), [failure]);
  assertEquals(readMessages({ ...failure, result: {} }), [failure]);
  assertEquals(readMessages({ ...failure, id: null }), [{ ...base, error: failure.error }]);
  assertEquals(readMessages({ ...result, method: "tools/list" }), [result]);
  assertEquals(readMessages({ id: 1, result: {} }), [result]);
});

Deno.test("readMessages() turns an answer of a wrong shape into an error answer of the same id", () => {
  const wrong = [{ result: null }, {}, { result: "x" }, { result: [] }, { result: 1 }, { error: null }, {
    method: null,
  }];
  for (const members of wrong) {
    assertEquals(readMessages({ ...base, id: "7", ...members }), [{ ...base, id: "7", error: PARSE_ERROR }]);
  }
});

Deno.test("readMessages() keeps what an error of a wrong shape says", () => {
  const unreadable = "its answer cannot be read";
  const errors: [unknown, number, string][] = [
    [{ code: -32000 }, -32000, `${unreadable}: an error without a message`],
    [{ code: -32000, message: null }, -32000, `${unreadable}: an error without a message`],
    [{ code: "E_FAIL", message: "disk full" }, -32603, `${unreadable}: disk full`],
    [{ message: "disk full" }, -32603, `${unreadable}: disk full`],
    [{ code: "-32602", message: "bad" }, -32602, "bad"],
    [{ code: 1.5, message: "bad" }, -32603, `${unreadable}: bad`],
    ["disk full", -32603, `${unreadable}: disk full`],
    [[1], -32603, `${unreadable}: an error without a message`],
    [true, -32603, `${unreadable}: an error without a message`],
  ];
  for (const [error, code, message] of errors) {
    assertEquals(readMessages({ ...base, id: 1, error }), [{ ...base, id: 1, error: { code, message } }]);
  }
});

Deno.test("readMessages() finds no message in anything else", () => {
  const others = [
    null,
    1,
    "x",
    [],
    [[{ ...base, id: 1, result: {} }]],
    {},
    { id: 1, level: "info" },
    base,
    {
      ...base,
      method: "x",
      params: [],
    },
    { ...base, id: {}, result: {} },
    { ...base, id: 0.5, result: {} },
  ];
  for (const value of others) assertEquals(readMessages(value), [], JSON.stringify(value));
});

Deno.test("readUnparsable() finds the id of an answer that is not JSON at either end of its text", () => {
  const body = '{"content":[{"type":"text","text":"\\"id\\":9"}],"v":NaN,"inner":{"id":8}}';
  for (
    const text of [
      `{"jsonrpc":"2.0","id":5,"result":${body}}`,
      `{"id": 5, "jsonrpc": "2.0", "result": ${body}}\r`,
      `{"result":${body},"jsonrpc":"2.0","id":5}`,
      `{"result":${body},"id":5,"jsonrpc":"2.0"}`,
      ` { "jsonrpc" : "2.0" , "trace" : "a\\"b" , "id" : 5 , "result" : ${body.slice(0, 20)}`,
      `{"jsonrpc":"2.0","id":5,"result":{"text":"${"x".repeat(100_000)}`,
    ]
  ) {
    assertEquals(readUnparsable(text), [{ ...base, id: 5, error: PARSE_ERROR }], text.slice(0, 80));
  }
  assertEquals(readUnparsable(`{"jsonrpc":"2.0","id":"5","result":NaN}`)[0]?.id, "5");
  for (
    const text of [
      `{"level":"info","id":5`,
      `{"jsonrpc":"2.0","method":"ping","id":5,"params":{"v":NaN}}`,
      `{"jsonrpc":"2.0","result":${body}}`,
      "",
    ]
  ) {
    assertEquals(readUnparsable(text), [], text);
  }
});
