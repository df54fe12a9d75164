import { silentLogger } from "../../../../src/log.ts";
import { Account, Budget } from "../../../../src/server/engine/budget.ts";
import { QuotaLedger } from "../../../../src/server/admission/quotas.ts";
import { createEventLogs, openAudit } from "../../../../src/server/observe/logs.ts";
import {
  Connection,
  type ConnectionContext,
  type SocketLike,
} from "../../../../src/server/relay/connection.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";

/** What connections without a Server share. Clear its `timeouts` at the end. */
export function openConnectionContext(): ConnectionContext {
  return {
    timeouts: new Timeouts(),
    returnMs: 50,
    createEventLog: createEventLogs(silentLogger),
    createErrorLog: createEventLogs(silentLogger),
    logger: silentLogger,
    audit: openAudit(silentLogger),
    probed: new Set(),
  };
}

const ANY_NUMBER = { connections: Infinity, connects: undefined };

/** Quotas without limits. */
export const { quotas } = new QuotaLedger({
  principal: ANY_NUMBER,
  address: ANY_NUMBER,
  messages: "principal",
})
  .open({ principal: "anonymous", address: undefined });

/** A connection whose peer never answers, unless its socket says otherwise. */
export function openConnection(
  sid: string,
  shared: ConnectionContext,
  emit: SocketLike["emit"] = () => {},
): Connection {
  const identity = { principal: "anonymous", session: undefined, version: undefined, isObserver: false };
  const socket = { id: sid, nsp: { _ids: 0 }, emit, join() {}, leave() {}, disconnect() {} };
  return new Connection(socket, silentSession, { identity, permit: {}, quotas, shared });
}

/** A session of which every packet takes ten bytes. */
export const silentSession = {
  account: new Account(new Budget(1024)),
  outbox: {
    push(send: () => void) {
      send();
      return 10;
    },
  },
  state: {
    address: "127.0.0.1",
    transport: "websocket",
    client: undefined,
    roundTripMs: undefined,
    waitingBytes: 0,
    isWriting: false,
  },
  /** It was read just now, however late that is. */
  readAtMs: Infinity,
  ping() {},
  close() {},
} as const;
