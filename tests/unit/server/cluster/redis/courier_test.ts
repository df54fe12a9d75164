import { assertEquals } from "@std/assert";
import { silentLogger } from "../../../../../src/log.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION } from "../../../../../src/protocol/events.ts";
import { Courier } from "../../../../../src/server/cluster/redis/courier.ts";
import { writeMessage } from "../../../../../src/server/cluster/redis/messages.ts";
import { Drain } from "../../../../../src/server/drain.ts";
import { HeldEvents } from "../../../../../src/server/held_events.ts";
import { loadLimitsFor } from "../../../../../src/server/limits.ts";
import { openConnection, openConnectionContext } from "../../_connection.ts";
import { computer } from "../_office_state.ts";

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

Deno.test("a Courier cancels a request behind the request, also while its Computer is still joining", async () => {
  const shared = openConnectionContext();
  const sent: string[] = [];
  const connection = openConnection("s", shared, {
    emit: (event) => void sent.push(event),
    ask(event) {
      sent.push(event);
      return { ackId: 1, bytes: 10 };
    },
  });
  const courier = new Courier({
    fence: "this process",
    connection: () => connection,
    isServing: () => true,
    publish: () => Promise.resolve(1),
    onEvicted() {},
  }, { ...shared, loadLimits: loadLimitsFor(8), drain: new Drain(), logger: silentLogger });
  const held = connection.held = new HeldEvents();
  courier.receive(writeMessage(ask, '["client:tool_call",{}]'));
  courier.receive(writeMessage({ kind: "drop", id: ask.id, from: ask.from, sid: ask.sid }));
  connection.enter(computer("laptop", { sid: "s" }));
  connection.held = undefined;
  held.release();
  await held.released;
  assertEquals(sent, [ask.event, CANCEL_TOOL_CALL_NOTIFICATION]);
  shared.timeouts.clear();
});
