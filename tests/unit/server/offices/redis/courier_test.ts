import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { type Logger, silentLogger } from "../../../../../src/log.ts";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION } from "../../../../../src/protocol/events.ts";
import { Courier, type CourierContext } from "../../../../../src/server/offices/redis/courier.ts";
import type { Connection } from "../../../../../src/server/relay/connection.ts";
import {
  type ProcessMessage,
  readMessage,
  writeMessage,
} from "../../../../../src/server/offices/redis/messages.ts";
import { toSeat } from "../../../../../src/server/offices/redis/store.ts";
import { createEventLogs } from "../../../../../src/server/observe/logs.ts";
import { Drain } from "../../../../../src/server/drain.ts";
import { RelayedText } from "../../../../../src/server/engine/long_text.ts";
import { deferEvents } from "../../relay/_deferred_events.ts";
import { ObserverRequests } from "../../../../../src/server/relay/pending_requests.ts";
import type { PendingRequest, Settlement } from "../../../../../src/server/relay/pending_requests.ts";
import { RawAnswer, RawRequest } from "../../../../../src/server/engine/raw.ts";
import { openConnection, openConnectionContext } from "../../relay/_connection.ts";
import { computer } from "../_offices.ts";
import { CONNECTION_LINES } from "../../../../../src/server/observe/logs.ts";

const MIB = 1024 * 1024;
const ask = {
  kind: "ask",
  id: 1,
  from: "other process",
  sid: "s",
  event: "client:tool_call",
  reqId: "r1",
  agent: "ada",
  computer: "laptop",
  officeId: "lab",
  isObserving: false,
  timeoutMs: 1_000,
} as const;

Deno.test("a Courier cancels a request behind the request, also while its Computer is still joining", () => {
  const shared = openConnectionContext();
  const sent: string[] = [];
  const connection = openConnection("s", shared, (event) => sent.push(event));
  const courier = courierOf(connection, shared);
  const deferred = connection.deferred = deferEvents().deferred;
  courier.receive(writeMessage(ask, '["client:tool_call",{}]'));
  courier.receive(writeMessage({ kind: "drop", id: ask.id, from: ask.from, sid: ask.sid, mayReturn: false }));
  connection.enter(computer("laptop", { sid: "s" }));
  connection.deferred = undefined;
  deferred.release();
  assertEquals(sent, [ask.event, CANCEL_TOOL_CALL_NOTIFICATION]);
  shared.timeouts.clear();
});

/** A courier whose messages go nowhere; nobody confirms them. */
function openCourier() {
  const shared = openConnectionContext();
  const sent: ProcessMessage[] = [];
  const connection = openConnection("s", shared);
  connection.enter(computer("laptop", { sid: "s" }));
  const courier = new Courier({
    fence: () => "this process",
    connections: { get: () => connection },
    isServing: () => true,
    publish(_fence, text) {
      const read = readMessage(text);
      if (read !== undefined) sent.push(read.message);
      return Promise.resolve(1);
    },
    replace() {},
    ...shared,
    ...noObservers(),
    drain: new Drain(),
    logger: silentLogger,
  });
  return { courier, sent, connection, [Symbol.dispose]: () => shared.timeouts.clear() };
}

Deno.test("a Courier does not send a request that has ended while it waited, nor a cancellation of it", () => {
  using open = openCourier();
  const { courier, sent } = open;
  const target = courier.targetOf(toSeat(computer("laptop", { sid: "s" }), "frozen"));
  const pending: PendingRequest[] = [];
  const outcomes: Settlement["kind"][] = [];
  const requester = { add: (opened: PendingRequest) => pending.push(opened), delete() {} };
  for (const text of ["x".repeat(5_000_000), "late", "cancelled", "next"]) {
    target.ask({ ...ask, reqId: text.slice(0, 9) }, {
      // Too long to go beside the first one.
      body: rawRequest(text.padEnd(100_000)),
      sides: [requester],
      onSettled: ({ kind }) => void outcomes.push(kind),
    });
  }
  pending[1]?.expire();
  pending[2]?.drop();
  assertEquals(outcomes, ["failed", "dropped"]);
  assertEquals(sent.map(({ kind }) => kind), ["ask"]);
  courier.receive(writeMessage({ kind: "received", from: "frozen", bytes: 5_000_000 }));
  assertEquals(sent.map((message) => message.kind === "ask" && message.reqId), ["xxxxxxxxx", "next"]);
  pending[0]?.drop();
  assertEquals(sent.at(-1), { kind: "drop", id: 1, from: "this process", sid: "s", mayReturn: false });
});

Deno.test("a Courier keeps a bounded size of answers for a process that confirms nothing: 413 in place of the rest", () => {
  using open = openCourier();
  const { courier, sent, connection } = open;
  const acks: ((answer: string) => void)[] = [];
  const answer = `["${"x".repeat(16 * MIB)}"]`;
  connection.ask = (_request, { onSettled }) => {
    acks.push((text) => onSettled({ kind: "answered", answer: [new RawAnswer(text, undefined)] }));
  };
  for (let id = 1; id <= 7; id++) courier.receive(writeMessage({ ...ask, id }, '["client:tool_call",{}]'));
  for (const ack of acks) ack(answer);
  for (let i = 0; i < 7; i++) {
    courier.receive(writeMessage({ kind: "received", from: ask.from, bytes: 17 * 1024 * 1024 }));
  }
  const answers = sent.map((message) => message.kind === "fail" ? message.code : message.kind);
  assertEquals(answers, [...Array(5).fill("answer"), 413, 413]);
});

Deno.test("a Courier tells other processes an error of the protocol as it is, and any other one without its text", () => {
  using open = openCourier();
  const { courier, sent, connection } = open;
  for (const error of [new SmcpError(413, "Too large", { details: { limit: 1 } }), new TypeError("secret")]) {
    connection.ask = (_request, { onSettled }) => onSettled({ kind: "failed", error });
    courier.receive(writeMessage(ask, '["client:tool_call",{}]'));
  }
  const reply = { kind: "fail", id: 1, from: "this process" } as const;
  assertEquals(sent.map((message) => ({ details: undefined, ...message })), [
    { ...reply, code: 413, message: "Too large", details: { limit: 1 } },
    { ...reply, code: 500, message: "Internal error", details: undefined },
  ]);
});

Deno.test("a Courier refuses a request for which there is no room before it copies its bytes", () => {
  using open = openCourier();
  const { courier } = open;
  const target = courier.targetOf(toSeat(computer("laptop", { sid: "s" }), "frozen"));
  const outcomes: Settlement["kind"][] = [];
  const context = {
    sides: [],
    onSettled: ({ kind }: Settlement) => void outcomes.push(kind),
  };
  const large = rawRequest("x".repeat(16 * MIB));
  // The first one is under way, and the others wait.
  for (let id = 0; id < 5; id++) target.ask(ask, { ...context, body: large });
  const text = RelayedText.cut(Buffer.from("42/smcp,".padEnd(MIB)), {
    isAscii: true,
    hasEscapes: false,
    quotes: [],
  });
  assert(text !== undefined);
  const body = new RawRequest(text, { body: {}, isTooDeep: false });
  text.toString = () => {
    throw new TypeError("it is copied");
  };
  const { code } = assertThrows(() => target.ask(ask, { ...context, body }), SmcpError);
  assertEquals([code, outcomes], [413, []]);
});

Deno.test("a Courier logs that a Computer cannot be told an event, within the bound of its connection, and goes on", () => {
  const levels: string[] = [];
  const logger = {
    ...silentLogger,
    warn: () => void levels.push("warn"),
    error: () => void levels.push("error"),
  };
  const shared = { ...openConnectionContext(), createEventLog: createEventLogs(logger, { now: () => 0 }) };
  const connection = openConnection("s", shared, () => {
    throw new SmcpError(413, "Cannot send a message: the receiver reads slowly");
  });
  connection.enter(computer("laptop", { sid: "s" }));
  const courier = courierOf(connection, shared, { logger });
  const tell = { kind: "tell", from: "other process", sid: "s", officeId: "lab", event: "client:x" } as const;
  const tellOften = () => {
    for (let index = 0; index < 50; index++) courier.receive(writeMessage(tell, '["client:x",{}]'));
  };
  tellOften();
  // While its membership changes, nobody waits for what comes of it.
  const deferred = connection.deferred = deferEvents().deferred;
  tellOften();
  connection.deferred = undefined;
  deferred.release();
  connection.end();
  // The last one tells how many were left out.
  assertEquals(levels, Array(CONNECTION_LINES.burst + 1).fill("warn"));
  shared.timeouts.clear();
});

Deno.test("a Courier keeps no large messages for a Computer whose membership changes when there is no memory for them", () => {
  const shared = openConnectionContext();
  const emitted: string[] = [];
  const connection = openConnection("s", shared, (event) => emitted.push(event));
  connection.enter(computer("laptop", { sid: "s" }));
  const published: ProcessMessage[] = [];
  const courier = courierOf(connection, shared, {
    publish: (_fence, text) => {
      const read = readMessage(text);
      if (read !== undefined) published.push(read.message);
      return Promise.resolve(1);
    },
  });
  const { deferred, memory } = deferEvents(250_000);
  connection.deferred = deferred;
  const tell = {
    kind: "tell",
    from: ask.from,
    sid: "s",
    officeId: ask.officeId,
    event: "client:told",
  } as const;
  // Each pair takes 200,000 bytes.
  for (let pair = 0; pair < 5; pair++) {
    const text = "x".repeat(100_000);
    courier.receive(writeMessage({ ...ask, id: pair }, JSON.stringify([ask.event, { text }])));
    courier.receive(writeMessage(tell, JSON.stringify([tell.event, { text }])));
  }
  assertEquals(memory.usedBytes > 200_000 && memory.usedBytes < 250_000, true);
  connection.deferred = undefined;
  deferred.release();
  assertEquals(emitted, [ask.event, tell.event]);
  assertEquals(
    published.flatMap((message) => message.kind === "fail" ? [message.code] : []),
    Array(4).fill(413),
  );
  assertEquals(memory.usedBytes, 0);
  shared.timeouts.clear();
});

function rawRequest(text: string): RawRequest {
  return new RawRequest(JSON.stringify([ask.event, { text }]), { body: {}, isTooDeep: false });
}

function noObservers() {
  return { observerRequests: new ObserverRequests({ maxOpenRequests: 8 }) };
}

/** The Courier of a process with one connection. */
function courierOf(connection: Connection, shared: ReturnType<typeof openConnectionContext>, {
  publish = () => Promise.resolve(1),
  logger = silentLogger,
}: { readonly publish?: CourierContext["publish"]; readonly logger?: Logger } = {}): Courier {
  const office = {
    fence: () => "this process",
    connections: { get: () => connection },
    isServing: () => true,
    publish,
    replace() {},
  };
  return new Courier({ ...office, ...shared, ...noObservers(), drain: new Drain(), logger });
}
