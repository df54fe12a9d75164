import { assert, assertEquals } from "@std/assert";
import { type AgentRead, type EndedCall, ToolCallHistory } from "../../../../src/computer/tools/history.ts";

function call(changes: Partial<EndedCall> = {}): EndedCall {
  return {
    reqId: "a",
    callId: "c1",
    agent: "ada",
    client: undefined,
    server: "s",
    tool: "t",
    startedAt: new Date(0),
    durationMs: 1,
    outcome: "ok",
    errorCode: undefined,
    ...changes,
  };
}

function read(changes: Partial<AgentRead> = {}): AgentRead {
  return {
    reqId: "a",
    agent: "ada",
    client: undefined,
    server: undefined,
    read: "desktop",
    query: undefined,
    documents: [],
    outcome: "ok",
    ...changes,
  };
}

function historyOf(redact = (text: string) => text): ToolCallHistory {
  return new ToolCallHistory(redact);
}

Deno.test("the last 1,000 calls are kept, oldest first, and the servers of the last 100", () => {
  const history = historyOf();
  for (let i = 0; i < 1_050; i++) history.push(call({ reqId: `${i}`, server: `s${i % 2}` }), {});
  const records = history.records;
  assertEquals([records.length, records[0]?.reqId, records[999]?.reqId], [1_000, "50", "1049"]);
  assertEquals([history.servers.length, history.servers.slice(0, 3)], [100, ["s0", "s1", "s0"]]);
});

Deno.test("a call of a tool that does not exist is kept, and does not change the order of servers", () => {
  const history = historyOf();
  history.push(call(), {});
  for (let i = 0; i < 150; i++) {
    history.push(call({ server: undefined, outcome: "error", errorCode: 4001 }), {});
  }
  assertEquals(history.records.length, 151);
  assertEquals(history.servers, ["s"]);
});

Deno.test("calls that a pause refused are one record that counts them, and push out no call that ran", () => {
  const history = historyOf();
  const none = { server: undefined, outcome: "refused" } as const;
  const refuse = (tool: string, seconds: number) =>
    history.push(call({ ...none, tool, startedAt: new Date(seconds * 1000) }), { to: "x" });
  history.push(call(), {});
  for (const seconds of [0, 200, 400, 800]) refuse("t", seconds);
  assertEquals(
    history.records.map((each) => each.kind === "call" && [each.calls, +each.startedAt, +each.lastAt]),
    [[1, 0, 0], [3, 0, 400_000], [1, 800_000, 800_000]],
  );
  assertEquals(history.last?.arguments, '{"to":"x"}');
  for (let i = 0; i < 1_500; i++) {
    refuse(`invented ${i}`, 900);
    history.pushRead(read({ read: `${i}`, outcome: "refused" }));
  }
  history.pushRead(read());
  const outcomes = Map.groupBy(history.records, ({ kind, outcome }) => `${kind} ${outcome}`);
  assertEquals(
    [...outcomes].map(([name, { length }]) => [name, length]),
    [["call ok", 1], ["call refused", 1_000], ["read refused", 1_000], ["read ok", 1]],
  );
});

Deno.test("a refused call of another tool or another client, or with other arguments, has a record of its own", () => {
  const history = historyOf();
  const refuse = (changes: Partial<EndedCall>, params = {}) =>
    history.push(call({ outcome: "refused", ...changes }), params);
  for (const changes of [{}, { tool: "other" }, { client: "Claude" }, { agent: "eve" }]) refuse(changes);
  refuse({}, { path: "/secret" });
  refuse({});
  assertEquals(history.records.map((each) => each.kind === "call" && each.calls), [1, 1, 1, 1, 2]);
});

Deno.test("a list of records does not change after it was returned", () => {
  const history = historyOf();
  const before = history.records;
  const servers = history.servers;
  history.push(call(), {});
  assertEquals([before, servers, history.servers], [[], [], ["s"]]);
});

Deno.test("arguments are masked by the secrets that are known when they are read, and by their names", () => {
  let secret = "none";
  const history = historyOf((text) => text.replaceAll(secret, "***"));
  history.push(call(), { path: "/hunter2", password: "x", deep: [{ apiKey: "y", count: 3, token: 4 }] });
  secret = "hunter2";
  assertEquals(
    history.last?.arguments,
    '{"path":"/***","password":"***","deep":[{"apiKey":"***","count":3,"token":"***"}]}',
  );
  assertEquals(history.last?.isCut, false);
});

Deno.test("of long arguments the beginning is kept, without a piece of a secret at its end", () => {
  const secret = "s3cret".repeat(10);
  const history = historyOf((text) => text.replaceAll(secret, "***"));
  history.push(call(), { first: "a", text: `${"x".repeat(4_060)}${secret}`, rest: "y".repeat(1e6) });
  const { arguments: kept = "", isCut } = history.last ?? {};
  assertEquals([isCut, kept.includes("s3cret"), kept.length <= 4_097], [true, false, true]);
  assert(kept.startsWith('{"first":"a","text":"xxx'));
  history.push(call(), { list: Array.from({ length: 1e5 }, (_, index) => ({ index })) });
  assert((history.last?.arguments.length ?? 0) <= 4_097);
  assertEquals(history.last?.isCut, true);
});

Deno.test("reads of the same by the same Agent are one record that counts them, and push no call out", () => {
  const history = historyOf((text) => text.replace("secret", "***"));
  history.push(call(), {});
  const [first, second] = [1, 2].map(() => history.pushRead(read({ read: "dpe://host/secret" })));
  assertEquals([first?.callId, second?.read, second?.reads], [second?.callId, "dpe://host/***", 2]);
  history.pushRead(read({ client: "Claude", read: "dpe://host/secret" }));
  for (let i = 0; i < 1_000; i++) history.pushRead(read({ read: `${i}` }));
  const { records } = history;
  const [oldest, last] = [records[0], records.at(-1)];
  assertEquals([records.length, oldest?.kind, last?.kind === "read" && last.read], [1_001, "call", "999"]);
  assertEquals(history.servers, ["s"]);
});

Deno.test("a read of the same after a while is another record", () => {
  const history = historyOf();
  for (const ms of [0, 200_000, 400_000, 800_000]) history.pushRead(read(), ms);
  assertEquals(
    history.records.map((each) => each.kind === "read" && [each.reads, +each.firstAt, +each.lastAt]),
    [[3, 0, 400_000], [1, 800_000, 800_000]],
  );
});

Deno.test("of who reads, and of which server, a masked name is kept", () => {
  const history = historyOf((text) => text.replaceAll("secret", "***"));
  const long = `${"x".repeat(120)}secret${"y".repeat(1e5)}`;
  history.pushRead(read({ agent: long, client: long, server: long }));
  for (const { agent, client, server } of history.records) {
    for (const kept of [agent, client, server]) {
      assertEquals([kept?.slice(118, 124), kept?.length], ["xx***y", 129]);
    }
  }
});

Deno.test("a search is kept with its query and the documents that it found, another query or another outcome apart", () => {
  const history = historyOf((text) => text.replaceAll("secret", "***"));
  const documents = Array.from({ length: 25 }, (_, index) => `dpe://host/secret-${index}`);
  const kept = history.pushRead(read({ read: "finder", query: "my secret", documents }));
  assertEquals([kept.query, kept.documents[0], kept.documents.length, kept.moreDocuments], [
    "my ***",
    "dpe://host/***-0",
    20,
    5,
  ]);
  history.pushRead(read({ read: "finder", query: "other", documents }));
  history.pushRead(read({ read: "finder", query: "other", outcome: "refused" }));
  assertEquals(history.pushRead(read({ read: "finder", query: "my secret", documents })).reads, 2);
  assertEquals(history.records.length, 3);
});
