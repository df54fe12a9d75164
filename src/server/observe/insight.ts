/** What an operator sees of a running Server, and the ends of connections that an operator wants. */
import process from "node:process";
import { WatchedFiles } from "../../files/watched_files.ts";
import type { LogFields } from "../../log.ts";
import { FarewellCode } from "../../protocol/farewell.ts";
import { MACHINE_PREFIX } from "../../protocol/presence.ts";
import type { ServerCertificate } from "../../http/tls.ts";
import type { Member } from "../offices/office.ts";
import type { Settings } from "../options/settings.ts";
import type { Connection } from "../relay/connection.ts";
import { PresenceRounds } from "../relay/presence.ts";
import type { SocketIoSide } from "../socket_io.ts";
import type { Refusal } from "./meter.ts";
import { type OutsideCounts, roleOf, writeMetrics } from "./metrics.ts";
import type { Health } from "./pages.ts";
import { Rates } from "./rates.ts";
import type { SeenEvent } from "./seen_event.ts";

const MEMBER_ROLES = ["agent", "computer", "observer", "none"] as const;

interface InsightParts {
  readonly settings: Settings;
  readonly side: SocketIoSide;
  readonly health: Health;
  readonly certificate?: ServerCertificate | undefined;
}

export type MemberState = ReturnType<typeof memberState>;
export type OfficeState = ReturnType<typeof officeState>;
export type Overview = ReturnType<Insight["overview"]>;

/** A machine that has joined by code, in an office. */
export interface SeenMachine {
  readonly office: string;
  readonly principal: string;
  readonly lastRead: Date;
  readonly asleepSince: Date | undefined;
  /** `false` of one whose connection ended in its sleep. */
  readonly isConnected: boolean;
}

/** All of it is of this process alone. */
export class Insight implements Disposable {
  readonly #parts: InsightParts;
  readonly #rates: Rates | undefined;
  readonly #rounds = new PresenceRounds();
  /** Set by the program around the Server. */
  outside: OutsideCounts = {};

  constructor(parts: InsightParts) {
    const { meter } = parts.settings;
    this.#parts = parts;
    this.#rates = meter && new Rates(meter);
  }

  /** The metrics as text; `undefined` for a Server that does not count. */
  writeMetrics(): string | undefined {
    const { settings: { meter, countLostAuditLines }, side: { engine }, health, certificate } = this.#parts;
    const connections = this.#connections;
    return meter && writeMetrics({
      meter,
      connections,
      otherConnections: Math.max(0, engine.size - connections.length),
      isReady: health.checkReadiness() === undefined,
      messageBytes: engine.budget.usedBytes,
      certificateExpiresAtMs: certificate?.expiresAtMs,
      refusedFiles: WatchedFiles.problems.length,
      auditLinesLost: countLostAuditLines?.(),
      outside: this.outside,
    });
  }

  /** Rates are empty for a Server that does not count. */
  overview() {
    const { side: { engine: { budget } }, health } = this.#parts;
    const byRole = Map.groupBy(this.#connections, ({ member }) => roleOf(member));
    return {
      unready: health.checkReadiness(),
      refusedFiles: WatchedFiles.problems,
      members: Object.fromEntries(MEMBER_ROLES.map((role) => [role, byRole.get(role)?.length ?? 0])),
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
    return [...Map.groupBy(members, ({ officeId }) => officeId)]
      .map(([office, all]) => officeState(office, all))
      .sort((a, b) => a.office < b.office ? -1 : 1);
  }

  /** Asks whether they would answer, and lists them in the order in which they connected. */
  async members(office: string): Promise<readonly MemberState[]> {
    const seated = () => this.#seated(({ officeId }) => officeId === office);
    await this.#rounds.ask(() => seated().map(([{ presence }]) => presence));
    return seated().map(([connection, member]) => memberState(connection, member));
  }

  /** The machines in all offices, as far as is known. */
  machines(): readonly SeenMachine[] {
    const here = this.#seated(isMachine).map(([{ presence }, member]) => {
      const { asleepSince, lastRead } = presence;
      // Computed at two moments, they could differ by a millisecond.
      return { member, lastRead: asleepSince ?? lastRead, asleepSince, isConnected: true };
    });
    const gone = this.#parts.side.relayState.sleepers.all.filter(({ member }) => isMachine(member))
      .map(({ member, since }) => ({ member, lastRead: since, asleepSince: since, isConnected: false }));
    return [...here, ...gone].map(({ member: { officeId: office, principal }, ...seen }) => {
      return { office, principal, ...seen };
    });
  }

  /** The same, when they were asked whether they would answer. */
  async askMachines(): Promise<readonly SeenMachine[]> {
    await this.#rounds.ask(() => this.#seated(isMachine).map(([{ presence }]) => presence));
    return this.machines();
  }

  /** Ends a connection, or all of a principal; returns how many. */
  end(
    who: { readonly sid: string } | { readonly principal: string },
    { reason: message, mayReturn: reconnect, actor }: {
      readonly reason: string;
      readonly mayReturn: boolean;
      /** Who ends it, as fields of the audit trail. */
      readonly actor?: LogFields | undefined;
    },
  ): number {
    const ending = this.#connections.filter(({ sid, identity: { principal } }) =>
      "sid" in who ? sid === who.sid : principal === who.principal
    );
    const farewell = { code: FarewellCode.ENDED_BY_OPERATOR, message, reconnect };
    for (const each of ending) each.dismiss(farewell, actor);
    return ending.length;
  }

  /** Counts a refusal of the program around the Server. */
  refused(refusal: Refusal): void {
    this.#parts.settings.meter?.refused(refusal);
  }

  /** Tells each event of a member of an office, when it has ended, until the disposal. */
  watch(listener: (event: SeenEvent) => void): Disposable {
    return this.#parts.side.relayState.seen.follow(listener);
  }

  [Symbol.dispose](): void {
    this.#rates?.[Symbol.dispose]();
  }

  #seated(isWanted: (member: Member) => boolean): readonly (readonly [Connection, Member])[] {
    return this.#connections.flatMap((connection) => {
      const { member } = connection;
      return member !== undefined && isWanted(member) ? [[connection, member] as const] : [];
    });
  }

  get #connections(): readonly Connection[] {
    return [...this.#parts.side.relayState.connections.values()];
  }
}

function isMachine({ principal }: Member): boolean {
  return principal.startsWith(MACHINE_PREFIX);
}

/** Observers are no members. */
function officeState(office: string, all: readonly Member[]) {
  const seated = all.filter(({ isObserver }) => !isObserver);
  const agent = seated.find(({ role }) => role === "agent")?.name;
  const computers = seated.filter(({ role }) => role === "computer").length;
  return { office, members: seated.length, agent, computers, observers: all.length - seated.length };
}

/** A member with its connection to this process: `version` is that of the protocol, `waits` what it has not read or answered. */
function memberState({ sid, state, presence, inFlight, answerTimes }: Connection, member: Member) {
  const { role, isObserver, name, version, principal, joinedAt: since } = member;
  const { address, transport, client, roundTripMs, waitingBytes: bytes } = state;
  return {
    sid,
    role,
    isObserver,
    name,
    client,
    version,
    principal,
    address,
    transport,
    since,
    lastSeen: presence.lastRead.toISOString(),
    asleepSince: presence.asleepSince?.toISOString(),
    roundTripMs,
    answerP50Ms: answerTimes?.quantileMs(0.5),
    answerP95Ms: answerTimes?.quantileMs(0.95),
    waits: { bytes, requests: inFlight.requests },
  };
}
