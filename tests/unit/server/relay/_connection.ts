import { silentLogger } from "../../../../src/log.ts";
import { Account, Budget } from "../../../../src/server/engine/budget.ts";
import { createEventLogs, openAudit } from "../../../../src/server/observe/logs.ts";
import { Connection, type ConnectionContext, type Wire } from "../../../../src/server/relay/connection.ts";
import { OfficeLoads } from "../../../../src/server/relay/pending_requests.ts";
import { TimingWheel } from "../../../../src/async/timing_wheel.ts";

/** What connections without a Server share. Clear its `timeouts` at the end. */
export function openConnectionContext(): ConnectionContext {
  return {
    timeouts: new TimingWheel(),
    officeLoads: new OfficeLoads(),
    observerLoads: new OfficeLoads(),
    createEventLog: createEventLogs(silentLogger),
    createErrorLog: createEventLogs(silentLogger),
    logger: silentLogger,
    audit: openAudit(silentLogger),
  };
}

/** A connection whose peer never answers, unless the wire says otherwise. */
export function openConnection(sid: string, shared: ConnectionContext, wire: Partial<Wire> = {}): Connection {
  const identity = { principal: "anonymous", session: undefined, version: undefined, isObserver: false };
  return new Connection({ ...silentWire(sid), ...wire }, { identity, permit: {}, shared });
}

function silentWire(sid: string): Wire {
  return {
    sid,
    account: new Account(new Budget(1024)),
    emit() {},
    ask: () => ({ ackId: 1, bytes: 10 }),
    answer() {},
    forgetAck() {},
    enterRoom() {},
    leaveRoom() {},
    close() {},
    drop() {},
  };
}
