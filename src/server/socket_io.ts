/** Sets up Socket.IO on an engine of our own, and the relay on Socket.IO. */
import type { Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { settledWithin } from "../async/abortable.ts";
import type { BoundedLog } from "../bounded_log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { AdmissionError, admit, type Admitted, LiveCredentials } from "./admission/admission.ts";
import type { HandshakeRefusal } from "./admission/handshake.ts";
import type { Drain } from "./drain.ts";
import { Holding } from "./engine/budget.ts";
import { Engine } from "./engine/engine.ts";
import { createBoundedParser } from "./engine/packets.ts";
import { corsHeaders, Port } from "./engine/port.ts";
import { REFUSAL_LINGER_MS } from "../http/refusals.ts";
import { accountOfNewSession, EngineSession } from "./engine/session.ts";
import { TimingWheel } from "../async/timing_wheel.ts";
import { OfficeLoads } from "./relay/pending_requests.ts";
import { auditFields, createEventLogs, openAudit } from "./observe/logs.ts";
import { MemoryOffices } from "./offices/memory.ts";
import type { Notification, OfficeListener, Offices } from "./offices/offices.ts";
import { RedisOffices } from "./offices/redis/offices.ts";
import type { Settings } from "./options/settings.ts";
import { QuotaLedger } from "./admission/quotas.ts";
import type { Hub } from "./relay/call.ts";
import { Connection } from "./relay/connection.ts";
import { dispatchDisconnect, listenerOf } from "./relay/dispatch.ts";
import { arrive, depart } from "./relay/office_events.ts";
import { forgetHandshake, hideSocketCount, roomOf, SocketWire } from "./socket_wire.ts";

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
  readonly connections: ReadonlyMap<string, Connection>;
  readonly offices: Offices;
  readonly countSessions: () => number;
  /** Ends all sessions at once. */
  readonly terminate: () => void;
  /** The bytes of messages that have not arrived completely, or wait for members that read slowly. */
  readonly countMessageBytes: () => number;
  readonly close: () => Promise<void>;
}

/** Sets up Socket.IO behind a gate on `http`. It does not make `http` listen. */
export function openSocketIo(http: HttpServer, context: SocketIoContext): SocketIoSide {
  const { settings, refusals, drain, onAdopted } = context;
  const { handshake, maxPayloadBytes } = settings;
  const audit = openAudit(settings.logger);
  const timeouts = new TimingWheel();
  const quotas = new QuotaLedger(settings.quotas);
  const engine = new Engine({
    ...settings,
    allowsUpgrades: handshake.transports.includes("websocket"),
    timeouts,
    refusals,
    onAdopted,
    corsHeaders: (request) => corsHeaders(request, handshake),
  });
  const io: IoServer = new SocketIoServer({
    parser: createBoundedParser({ maxPayloadBytes, openHolding: () => new Holding(accountOfNewSession()) }),
    // Socket.IO must wait longer than the auth provider may take.
    connectTimeout: settings.connectTimeoutMs + settings.authTimeoutMs + REFUSAL_LINGER_MS,
    serveClient: false,
  });
  // Socket.IO's types know its own engine only.
  io.bind(engine as unknown as Parameters<IoServer["bind"]>[0]);
  const { connections, offices } = serveNamespace(io, { settings, timeouts, refusals, drain, audit, quotas });
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
    connections,
    offices,
    countSessions: () => engine.size,
    terminate: () => engine.terminate(),
    countMessageBytes: () => engine.budget.usedBytes,
    async close() {
      // Clients come back at once, and the offices may take seconds to close.
      isClosed = true;
      await io.close();
      await settledWithin(engine.untilEmpty(), REFUSAL_LINGER_MS);
      engine.terminate();
      await offices.close();
      timeouts.clear();
      audit.close();
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
  readonly settings: Settings;
  readonly timeouts: TimingWheel;
  readonly refusals: BoundedLog;
  readonly drain: Drain;
  readonly audit: BoundedLog;
  readonly quotas: QuotaLedger;
}

function serveNamespace(
  io: IoServer,
  context: NamespaceContext,
): Pick<SocketIoSide, "connections" | "offices"> {
  const { settings, audit, timeouts } = context;
  // Otherwise a client without credentials could stay connected to the default namespace.
  io.use((_socket, next) =>
    next(new AdmissionError(ErrorCode.UNAUTHORIZED, `Unauthorized: only ${SMCP_NAMESPACE} is served`))
  );
  const namespace = io.of(SMCP_NAMESPACE);
  const connections = new Map<string, Connection>();
  const hub = createHub(namespace, { ...context, connections });
  const credentialsContext = { ...settings, audit, timeouts };
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
    const connection = new Connection(new SocketWire(socket, session), { ...admitted, shared: hub });
    connections.set(socket.id, connection);
    const credentials = new LiveCredentials(connection, { address, context: credentialsContext });
    connection.credentials = credentials;
    const onClosed = () => {
      connections.delete(socket.id);
      credentials.close();
    };
    serveConnection(socket, { hub, connection, address, onClosed });
    credentials.watch(admitted.permit);
    // Last: it delivers the messages that were held back, and these may close the connection.
    const { quotas, identity: { principal } } = admitted;
    const owner = quotas === undefined ? { incompleteBytes: 0 } : context.quotas.messageOwner(quotas);
    session.admit(owner, { sid: socket.id, principal });
  });
  return { connections, offices: hub.offices };
}

/** Asks for the admission of a connection, and counts it until its session ends. */
async function decide(
  socket: IoSocket,
  session: EngineSession,
  { settings, refusals, quotas }: NamespaceContext,
): Promise<void> {
  const gone = new AbortController();
  const onClose = () => gone.abort(new AdmissionError(ErrorCode.UNAUTHORIZED, "Closed before admission"));
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

function createHub(
  namespace: ReturnType<IoServer["of"]>,
  context: NamespaceContext & { readonly connections: ReadonlyMap<string, Connection> },
): Hub {
  const { settings, timeouts, drain, audit, connections } = context;
  const premises = {
    logger: settings.logger,
    audit,
    connections,
    departureReasons: new Map<string, string>(),
    deliver(officeId: string, { event, body, except }: Notification) {
      const room = namespace.to(roomOf(officeId));
      (except === undefined ? room : room.except(except)).emit(event, body);
    },
  };
  const listener: OfficeListener = {
    ...premises,
    onJoined: (member, where) => arrive(premises, member, where),
    onLeft: (member, how) => depart(premises, member, how),
  };
  const shared = {
    ...settings,
    ...premises,
    drain,
    timeouts,
    createEventLog: createEventLogs(settings.logger),
    createErrorLog: createEventLogs(settings.logger, { kind: "relayedErrors" }),
    officeLoads: new OfficeLoads(),
    observerLoads: new OfficeLoads(),
  };
  const { redis } = settings;
  return {
    ...shared,
    offices: redis === undefined
      ? new MemoryOffices(listener, settings)
      : new RedisOffices(redis, { ...shared, listener }),
  };
}

function serveConnection(
  socket: IoSocket,
  { hub, connection, address, onClosed }: {
    readonly hub: Hub;
    readonly connection: Connection;
    readonly address: string;
    readonly onClosed: () => void;
  },
): void {
  const { principal, version } = connection.identity;
  const fields = { sid: socket.id, principal, version, address };
  hub.audit.write("debug", "connected", auditFields("connect", fields));
  socket.onAny(listenerOf(hub, connection));
  socket.on("disconnect", (reason, why) => {
    const { member } = connection;
    const fields = { sid: socket.id, reason, why, name: member?.name, office: member?.officeId };
    // Socket.IO closes a connection for a frame that it cannot parse or that is too large.
    if (reason === "transport error" || reason === "parse error") {
      hub.logger.warn(
        "dropped a connection: a message was malformed or too large, or the network failed",
        fields,
      );
    } else hub.logger.debug("disconnected", fields);
    onClosed();
    dispatchDisconnect(hub, { connection, cause: reason });
    // The connection serves one namespace, so it closes with it.
    if (reason === "client namespace disconnect") sessionOf(socket).close();
  });
}
