/** Sets up Socket.IO on an engine of our own, and the relay on Socket.IO. */
import type { Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { settledWithin } from "../async/abortable.ts";
import type { BoundedLog } from "../bounded_log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { admit, type Admitted, LiveCredentials } from "./admission/admission.ts";
import type { HandshakeRefusal } from "./admission/handshake.ts";
import type { Drain } from "./drain.ts";
import { Holding } from "./engine/budget.ts";
import { Engine } from "./engine/engine.ts";
import { createBoundedParser } from "./engine/packets.ts";
import { Port } from "./engine/port.ts";
import { REFUSAL_LINGER_MS } from "../http/refusals.ts";
import { accountOfNewSession, EngineSession } from "./engine/session.ts";
import { auditFields, LoggedRefusal } from "./observe/logs.ts";
import type { Settings } from "./options/settings.ts";
import { QuotaLedger } from "./admission/quotas.ts";
import { Connection } from "./relay/connection.ts";
import { dispatchDisconnect, listenerOf } from "./relay/dispatch.ts";
import { RelayState } from "./relay/relay_state.ts";
import { forgetHandshake, hideSocketCount, roomOf } from "./relay/socket_internals.ts";

type Events = Record<string, (...args: unknown[]) => void>;
type IoServer = SocketIoServer<Events, Events, Events, { admitted?: Admitted }>;
type IoSocket = Socket<Events, Events, Events, { admitted?: Admitted }>;

export interface SocketIoContext {
  readonly settings: Settings;
  readonly refusals: BoundedLog;
  readonly drain: Drain;
  /** The TCP connection belongs to an admitted client. */
  readonly onAdopted: (socket: Duplex) => void;
}

export interface SocketIoSide {
  readonly relayState: RelayState;
  readonly engine: Engine;
  readonly connectInner: Port["connectInner"];
  readonly close: () => Promise<void>;
}

/** Sets up Socket.IO behind a gate on `http`. It does not make `http` listen. */
export function openSocketIo(http: HttpServer, context: SocketIoContext): SocketIoSide {
  const { settings, refusals, drain, onAdopted } = context;
  const { handshake, maxPayloadBytes } = settings;
  const quotas = new QuotaLedger(settings.quotas);
  const relayState = new RelayState({
    settings,
    drain,
    deliver(officeId, { event, body, except }) {
      const room = io.of(SMCP_NAMESPACE).to(roomOf(officeId));
      (except === undefined ? room : room.except(except)).emit(event, body);
    },
  });
  const engine = new Engine({
    ...settings,
    allowsUpgrades: handshake.transports.includes("websocket"),
    timeouts: relayState.timeouts,
    refusals,
    onAdopted,
  });
  const io: IoServer = new SocketIoServer({
    parser: createBoundedParser({ maxPayloadBytes, openHolding: () => new Holding(accountOfNewSession()) }),
    // Socket.IO must wait longer than the auth provider may take.
    connectTimeout: settings.connectTimeoutMs + settings.authTimeoutMs + REFUSAL_LINGER_MS,
    serveClient: false,
  });
  // Socket.IO's types know its own engine only.
  io.bind(engine as unknown as Parameters<IoServer["bind"]>[0]);
  serveNamespace(io, { relayState, refusals, quotas });
  let isClosed = false;
  const port = new Port({
    ...settings,
    engine,
    quotas,
    isClosing: () => isClosed || drain.isStarted,
    onRefused: (refusal, address) => logRefusal(refusal, { settings, refusals, address }),
    onAdopted,
  });
  const removePort = port.install(http);
  return {
    relayState,
    engine,
    connectInner: (url) => port.connectInner(url),
    async close() {
      // Clients come back at once, and the offices may take seconds to close.
      isClosed = true;
      await io.close();
      await settledWithin(engine.untilEmpty(), REFUSAL_LINGER_MS);
      engine.terminate();
      await relayState.close();
      removePort();
    },
  };
}

function logRefusal({ body, kind }: HandshakeRefusal, { settings, refusals, address }: {
  readonly settings: Settings;
  readonly refusals: BoundedLog;
  readonly address: string | undefined;
}): void {
  settings.meter?.refused(kind);
  // A field `message` would replace the message of a JSON line.
  const { message: reason, ...rest } = body;
  const fields = { ...rest, reason, address };
  refusals.write(
    // Our own clients ask for polling first.
    kind === "transport" ? "debug" : "warn",
    "refused a handshake",
    kind === "origin" ? auditFields("connect", fields) : fields,
  );
}

interface NamespaceContext {
  readonly relayState: RelayState;
  readonly refusals: BoundedLog;
  readonly quotas: QuotaLedger;
}

function serveNamespace(io: IoServer, context: NamespaceContext): void {
  const { relayState } = context;
  const { audit, timeouts } = relayState;
  // Otherwise a client without credentials could stay connected to the default namespace.
  io.use((_socket, next) =>
    next(new LoggedRefusal(ErrorCode.UNAUTHORIZED, `Unauthorized: only ${SMCP_NAMESPACE} is served`))
  );
  const namespace = io.of(SMCP_NAMESPACE);
  const credentialsContext = { ...relayState.settings, audit, timeouts };
  namespace.use((socket, next) => {
    const session = sessionOf(socket);
    hideSocketCount(socket);
    decide(socket, session, context).then(() => next(), (error) => {
      next(error);
      session.refuse();
    });
  });
  namespace.on("connection", (socket) => {
    const session = sessionOf(socket);
    const { admitted } = socket.data;
    if (admitted === undefined) return void socket.disconnect(true);
    const { address } = socket.handshake;
    forgetHandshake(socket);
    const connection = new Connection(socket, session, { ...admitted, shared: relayState });
    relayState.connections.set(socket.id, connection);
    const credentials = new LiveCredentials(connection, { address, context: credentialsContext });
    connection.credentials = credentials;
    serveConnection(socket, { relayState, connection, address, onClosed: () => credentials.close() });
    credentials.watch(admitted.permit);
    // Last: it delivers the messages that were held back, and these may close the connection.
    const { identity: { principal }, quotas } = admitted;
    session.admit(quotas.messages, { sid: socket.id, principal });
  });
}

/** Asks for the admission of a connection, and counts it until its session ends. */
async function decide(
  socket: IoSocket,
  session: EngineSession,
  { relayState: { settings }, refusals, quotas }: NamespaceContext,
): Promise<void> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new LoggedRefusal(ErrorCode.UNAUTHORIZED, "Closed before admission"));
  session.once("close", onClose);
  try {
    const { address } = socket.handshake;
    const count = (principal: string) => {
      const opened = quotas.open({ principal, address });
      session.on("close", opened.close);
      return opened.quotas;
    };
    const options = { ...settings, refusals, signal: gone.signal, count };
    socket.data.admitted = await admit(socket.handshake, options);
  } finally {
    session.off("close", onClose);
  }
}

/** The session of a socket. Socket.IO's types know the sessions of its own engine only. */
function sessionOf({ conn }: { readonly conn: unknown }): EngineSession {
  if (conn instanceof EngineSession) return conn;
  throw new TypeError("Cannot find the session of a socket: this version of Socket.IO keeps it elsewhere");
}

function serveConnection(
  socket: IoSocket,
  { relayState, connection, address, onClosed }: {
    readonly relayState: RelayState;
    readonly connection: Connection;
    readonly address: string;
    readonly onClosed: () => void;
  },
): void {
  const { principal, version } = connection.identity;
  const fields = { sid: socket.id, principal, version, address };
  relayState.audit.write("debug", "connected", auditFields("connect", fields));
  socket.onAny(listenerOf(relayState, connection));
  socket.on("disconnect", (reason, why) => {
    const { member } = connection;
    const fields = { sid: socket.id, reason, why, name: member?.name, office: member?.officeId };
    // Socket.IO closes a connection for a frame that it cannot parse or that is too large.
    if (reason === "transport error" || reason === "parse error") {
      relayState.logger.warn(
        "dropped a connection: a message was malformed or too large, or the network failed",
        fields,
      );
    } else relayState.logger.debug("disconnected", fields);
    relayState.connections.delete(socket.id);
    onClosed();
    dispatchDisconnect(relayState, { connection, cause: reason });
    // The connection serves one namespace, so it closes with it.
    if (reason === "client namespace disconnect") sessionOf(socket).close();
  });
}
