import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import {
  ObserverRequests,
  OpenRequests,
  PendingRequest,
} from "../../../../src/server/relay/pending_requests.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";

const limit = { requests: 3, bytes: 100 };

/** Sends requests from here, each of which counts at a side until it is dropped. */
function openSender() {
  const timeouts = new Timeouts();
  const request = {
    event: "e",
    reqId: "1",
    agent: "ada",
    computer: "c",
    isObserving: true,
    timeoutMs: 1_000,
  };
  return {
    send(side: OpenRequests | ObserverRequests, bytes: number, officeId = "lab"): PendingRequest {
      const options = { sides: [side], timeouts, onSettled() {} };
      const pending = new PendingRequest({ ...request, officeId }, options);
      pending.onSent(bytes);
      return pending;
    },
    [Symbol.dispose]: () => timeouts.clear(),
  };
}

function refusalOf(requireRoom: () => void): unknown[] {
  const { code, details } = assertThrows(requireRoom, SmcpError);
  return [code, details];
}

Deno.test("requests at their limit refuse another one with 400 until one ends", () => {
  using sender = openSender();
  const open = new OpenRequests();
  const requests = [1, 2, 3].map(() => {
    open.requireRoom("this connection", limit);
    return sender.send(open, 1);
  });
  const refusal = refusalOf(() => open.requireRoom("this connection", limit));
  assertEquals(refusal, [400, { field: "event", limit: 3 }]);
  requests[1]?.drop();
  requests[1]?.drop();
  open.requireRoom("this connection", limit);
});

Deno.test("requests at their limit of bytes refuse more with 413, whatever the size of the last one", () => {
  using sender = openSender();
  const open = new OpenRequests();
  sender.send(open, 99);
  open.requireRoom("this connection", limit);
  const last = sender.send(open, 500);
  const refusal = refusalOf(() => open.requireRoom("this connection", limit));
  assertEquals(refusal, [413, { size: 599, limit: 100 }]);
  last.fail(new Error("too late"));
  open.requireRoom("this connection", limit);
});

Deno.test("the observers of each office have room of their own", () => {
  using sender = openSender();
  const observers = new ObserverRequests({ maxOpenRequests: 8 });
  const [pending] = [sender.send(observers, 1), sender.send(observers, 1), sender.send(observers, 99, "den")];
  observers.requireRoom("den");
  observers.requireRoom("nowhere");
  assertEquals(refusalOf(() => observers.requireRoom("lab"))[0], 400);
  pending.ack({});
  observers.requireRoom("lab");
});
