/** What an operator sees of a running Server, and the ends of connections that an operator wants. */
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import { FarewellCode } from "../../protocol/farewell.ts";
import type { ServerCertificate } from "../../http/tls.ts";
import type { Member } from "../offices/office.ts";
import type { Settings } from "../options/settings.ts";
import type { Connection } from "../relay/connection.ts";
import type { SocketIoSide } from "../socket_io.ts";
import { roleOf, writeMetrics } from "./metrics.ts";
import type { Health } from "./pages.ts";
import { Rates, type RateSample } from "./rates.ts";
import type { SeenEvent } from "./seen_event.ts";

/** How long the Server goes on counting after an operator has looked, in milliseconds. */
const UNWATCHED_MS = 15 * 60_000;

interface InsightParts {
  readonly settings: Settings;
  readonly side: SocketIoSide;
  readonly health: Health;
  readonly certificate?: ServerCertificate | undefined;
}

/** A member of an office, with its connection to this process. */
export interface MemberState extends Pick<Connection["state"], "address" | "transport" | "client"> {
  readonly sid: string;
  readonly role: string;
  readonly isObserver: boolean;
  readonly name: string;
  /** Of the protocol. */
  readonly version: string | undefined;
  readonly principal: string;
  readonly since: string;
  /** The last answer to a heartbeat. */
  readonly lastSeen: string;
  readonly roundTripMs: number | undefined;
  /** Bytes that the member has not read, and requests that it has not answered. */
  readonly waits: { readonly bytes: number; readonly requests: number };
}

export interface OfficeState {
  readonly office: string;
  /** Without observers. */
  readonly members: number;
  readonly agent: string | undefined;
  readonly computers: number;
  readonly observers: number;
}

export interface Overview {
  /** Why no new sessions are accepted; `undefined` while they are. */
  readonly unready: string | undefined;
  readonly members: Readonly<Record<string, number>>;
  readonly offices: number;
  readonly memory: { readonly rss: number; readonly messageBytes: number; readonly maxMessageBytes: number };
  /** Empty for a Server that does not count. */
  readonly last15m: readonly RateSample[];
}

/** All of it is of this process alone. It costs nothing until it is asked. */
export class Insight implements Disposable {
  readonly #parts: InsightParts;
  readonly #watchers = new Set<(event: SeenEvent) => void>();
  #rates: Rates | undefined;
  /** Whether the Server counts only while an operator looks, and some time after. */
  #isOnDemand = false;
  #unwatched: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: InsightParts) {
    this.#parts = parts;
  }

  /** The metrics as text; `undefined` for a Server that does not count. */
  writeMetrics(): string | undefined {
    const { settings: { meter, countLostAuditLines }, side: { engine }, health, certificate } = this.#parts;
    const connections = this.#connections;
    return meter && writeMetrics({
      meter,
      connections,
      otherConnections: Math.max(0, engine.size - connections.length),
      isReady: health.isReady,
      messageBytes: engine.budget.usedBytes,
      certificateExpiresAtMs: certificate?.expiresAtMs,
      auditLinesLost: countLostAuditLines?.(),
    });
  }

  /** Counts from now on only while somebody looks, and 15 minutes longer. */
  countOnDemand(): void {
    this.#isOnDemand = true;
    this.#stopCounting();
  }

  /** Keeps the rates of the last 15 minutes from now on. */
  count(): void {
    const { meter } = this.#parts.settings;
    if (meter === undefined) return;
    meter.isCounting = true;
    this.#rates ??= new Rates(meter);
    if (!this.#isOnDemand) return;
    clearTimeout(this.#unwatched);
    this.#unwatched = setTimeout(() => this.#stopCounting(), UNWATCHED_MS);
    this.#unwatched.unref();
  }

  overview(): Overview {
    this.count();
    const { side: { engine: { budget } }, health } = this.#parts;
    const members: Record<string, number> = { agent: 0, computer: 0, observer: 0, none: 0 };
    for (const { member } of this.#connections) members[roleOf(member)] = (members[roleOf(member)] ?? 0) + 1;
    return {
      unready: health.unready,
      members,
      offices: this.offices().length,
      memory: {
        rss: process.memoryUsage.rss(),
        messageBytes: budget.usedBytes,
        maxMessageBytes: budget.maxBytes,
      },
      last15m: this.#rates?.samples ?? [],
    };
  }

  offices(): readonly OfficeState[] {
    const members = this.#connections.flatMap(({ member }) => member ?? []);
    return [...Map.groupBy(members, ({ officeId }) => officeId)].map(([office, all]) => {
      const seated = all.filter(({ isObserver }) => !isObserver);
      const computers = seated.filter(({ role }) => role === "computer").length;
      const agent = seated.find(({ role }) => role === "agent")?.name;
      return { office, members: seated.length, agent, computers, observers: all.length - seated.length };
    }).sort((a, b) => a.office < b.office ? -1 : 1);
  }

  /** In the order in which they connected. */
  members(office: string): readonly MemberState[] {
    return this.#connections.flatMap((connection) =>
      connection.member?.officeId === office ? [memberState(connection, connection.member)] : []
    );
  }

  /** Ends a connection, or all of a principal; returns how many. */
  end(
    who: { readonly sid: string } | { readonly principal: string },
    { reason: message, mayReturn: reconnect }: { readonly reason: string; readonly mayReturn: boolean },
  ): number {
    const ending = this.#connections.filter(({ sid, identity: { principal } }) =>
      "sid" in who ? sid === who.sid : principal === who.principal
    );
    for (const each of ending) each.dismiss({ code: FarewellCode.ENDED_BY_OPERATOR, message, reconnect });
    return ending.length;
  }

  /** Tells each event of a member of an office, when it has ended, until the watch is disposed of. */
  watch(listener: (event: SeenEvent) => void): Disposable {
    this.#watchers.add(listener);
    this.#look();
    return {
      [Symbol.dispose]: () => {
        this.#watchers.delete(listener);
        this.#look();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#stopCounting();
  }

  #stopCounting(): void {
    const { meter } = this.#parts.settings;
    if (meter !== undefined && this.#isOnDemand) meter.isCounting = false;
    clearTimeout(this.#unwatched);
    this.#rates?.[Symbol.dispose]();
    this.#rates = undefined;
  }

  get #connections(): readonly Connection[] {
    return [...this.#parts.side.relayState.connections.values()];
  }

  #look(): void {
    this.#parts.side.relayState.onSeen = this.#watchers.size === 0
      ? undefined
      : (event) => this.#watchers.forEach((tell) => tell(event));
  }
}

function memberState({ sid, state, inFlight }: Connection, member: Member): MemberState {
  const { role, isObserver, name, version, principal, joinedAt: since } = member;
  const { address, transport, client, lastSeenAtMs, roundTripMs, waitingBytes: bytes } = state;
  return {
    ...{ sid, role, isObserver, name, client, version, principal, address, transport, since },
    lastSeen: new Date(lastSeenAtMs).toISOString(),
    roundTripMs,
    waits: { bytes, requests: inFlight.requests },
  };
}
