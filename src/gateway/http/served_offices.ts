/** Which gateway serves the office of a path: one for all paths, or one for each office. */
import { Releases } from "../../async/releases.ts";
import { settledWithin } from "../../async/abortable.ts";
import { OfficeGroup } from "../../agent/group/office_group.ts";
import { type Access, refuseOffice } from "../../http/mcp/access.ts";
import { httpError } from "../../http/mcp/http_error.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { coreOf, GatewayCore } from "../gateway_core.ts";
import type { Gateway, GatewayOptions } from "../gateway_options.ts";
import type { Seat, Seats } from "../seats.ts";

/** How long a client waits to hear whether its office can be joined, in milliseconds. */
const DECISION_MS = 10_000;
/** The most groups of offices that are kept. */
const MAX_GROUPS = 200;

/** An office, or several as one, for the clients of its paths. */
export interface ServedOffice {
  /** Tells it from others. */
  readonly key: string;
  readonly gateway: GatewayCore;
  /** Aborted when it is no longer served; never when absent. */
  readonly ended?: AbortSignal;
  /** Keeps it for a client, by the id of its credential, until the result is disposed of. */
  use?(client: string): Disposable;
  /** Why it cannot be used now, in words for users; `undefined` when it can, and while that is not known for long. */
  problem?(): Promise<string | undefined>;
}

export interface ServedOffices {
  /** The paths, for a refusal of others. */
  readonly paths: string;
  /** Whether paths name their office. */
  readonly isByName: boolean;
  /** What serves an office, or all offices of the client when none is named; or a refusal. */
  open(office: string | undefined, access: Access): ServedOffice | Response;
  close(): Promise<void>;
}

/** One gateway for the paths that name no office, and others for those that do. */
export class GivenOffices implements ServedOffices {
  readonly isByName: boolean;
  readonly #all: ServedOffice;
  /** The offices that the gateway serves; `undefined` for that of its Agent, once it has joined. */
  readonly #offices: readonly string[] | undefined;
  readonly #byName: ReadonlyMap<string, ServedOffice>;

  constructor(
    gateway: GatewayCore,
    { office, offices = {} }: {
      readonly office?: string | undefined;
      readonly offices?: Readonly<Record<string, Gateway>> | undefined;
    },
  ) {
    const named = Object.entries(offices);
    this.isByName = named.length > 0;
    this.#all = { key: "", gateway };
    this.#offices = office === undefined ? this.isByName ? Object.keys(offices) : undefined : [office];
    this.#byName = new Map(
      named.map(([name, gateway]) => [name, { key: JSON.stringify([name]), gateway: coreOf(gateway) }]),
    );
  }

  get paths(): string {
    const paths = "/mcp, /mcp/search and /mcp/c/{computer}";
    return this.isByName ? `${paths}, and the same after /mcp/o/{office}` : paths;
  }

  open(office: string | undefined, access: Access): ServedOffice | Response {
    if (office !== undefined) {
      return refuseOffice(access, office) ?? this.#byName.get(office) ??
        httpError(404, "Cannot serve this path: this gateway is not in that office");
    }
    const offices = this.#offices ?? [this.#all.gateway.office];
    return offices.map((each) => refuseOffice(access, each)).find((refusal) => refusal !== undefined) ??
      this.#all;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The offices of seats, each served from its first client to a while after the last. */
export class SeatedOffices implements ServedOffices {
  readonly paths =
    "/mcp/o/{office}, /mcp/o/{office}/search, /mcp/o/{office}/c/{computer}, and the same after /mcp for all of your offices";
  readonly isByName = true;
  readonly #seats: Seats;
  readonly #log: Logger;
  readonly #served = new WeakMap<Seat, ServedOffice>();
  /** By their key; the one that was used least recently first. */
  readonly #groups = new Map<string, SeatGroup>();

  constructor(seats: Seats, logger: Logger = silentLogger) {
    this.#seats = seats;
    this.#log = logger;
  }

  open(office: string | undefined, access: Access): ServedOffice | Response {
    if (office !== undefined) return refuseOffice(access, office) ?? this.#openOne(office);
    if (access.offices === "all") {
      return httpError(
        404,
        "Cannot serve this path: your credential is for any office; name one: /mcp/o/{office}",
      );
    }
    const [first, ...others] = [...new Set(access.offices)].sort();
    if (first === undefined) {
      return httpError(403, "Cannot serve this request: your credential is for no office");
    }
    return others.length === 0 ? this.#openOne(first) : this.#openGroup([first, ...others]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#groups.values().map((group) => group.close()));
  }

  #openOne(office: string): ServedOffice | Response {
    const seat = this.#seats.open(office);
    if (seat === undefined) return noPlace();
    const served = this.#served.get(seat) ?? servedSeat(seat);
    this.#served.set(seat, served);
    return served;
  }

  #openGroup(offices: readonly string[]): ServedOffice | Response {
    const key = JSON.stringify(offices);
    const known = this.#groups.get(key);
    const group = known?.ended.aborted === false ? known : this.#createGroup(key, offices);
    if (group === undefined) return noPlace();
    this.#groups.delete(key);
    this.#groups.set(key, group);
    return group;
  }

  #createGroup(key: string, offices: readonly string[]): SeatGroup | undefined {
    if (this.#groups.size >= MAX_GROUPS) {
      const unused = this.#groups.values().find(({ isUsed }) => !isUsed);
      if (unused === undefined) return undefined;
      void unused.close();
    }
    const seats = offices.map((office) => this.#seats.open(office)).filter((seat) => seat !== undefined);
    if (seats.length < offices.length) return undefined;
    const group = new SeatGroup(key, {
      seats,
      options: this.#seats.gatewayOptions(offices),
      logger: this.#log,
    });
    group.ended.addEventListener("abort", () => {
      if (this.#groups.get(key) === group) this.#groups.delete(key);
    }, { once: true });
    return group;
  }
}

function noPlace(): Response {
  return httpError(503, "Cannot serve one more office: there are too many", {
    headers: { "retry-after": "60" },
  });
}

function servedSeat(seat: Seat): ServedOffice {
  let isDecided = false;
  void seat.tried.then(() => isDecided = true);
  return {
    key: JSON.stringify([seat.office]),
    gateway: seat.gateway,
    ended: seat.ended,
    use: (client) => seat.use(client),
    async problem() {
      if (!isDecided) await settledWithin(seat.tried, DECISION_MS);
      return seat.problem;
    },
  };
}

interface GroupParts {
  readonly seats: readonly Seat[];
  readonly options: GatewayOptions;
  readonly logger: Logger;
}

/** Several seats as one office. It ends with the first of them that ends. An office that cannot be joined keeps nobody from the others. */
class SeatGroup implements ServedOffice {
  readonly key: string;
  readonly gateway: GatewayCore;
  readonly ended: AbortSignal;
  readonly #seats: readonly Seat[];
  readonly #group: OfficeGroup;
  readonly #closing = new AbortController();
  #uses = 0;

  constructor(key: string, { seats, options, logger }: GroupParts) {
    this.key = key;
    this.#seats = seats;
    const offices = seats.map((seat) => ({
      label: seat.office,
      agent: seat.agent,
      problem: () => seat.problem,
      tried: seat.tried,
    }));
    const { memory, patienceMs } = options;
    this.#group = new OfficeGroup(offices, { names: memory?.kept.computers, patienceMs, logger });
    this.gateway = new GatewayCore(this.#group, options);
    this.ended = AbortSignal.any([this.#closing.signal, ...seats.map(({ ended }) => ended)]);
    this.ended.addEventListener("abort", () => void this.close(), { once: true });
  }

  get isUsed(): boolean {
    return this.#uses > 0;
  }

  use(client: string): Disposable {
    this.#uses++;
    const uses = new Releases();
    for (const seat of this.#seats) uses.use(seat.use(client));
    uses.defer(() => void this.#uses--);
    return uses;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.gateway.close();
    await this.#group.close();
  }
}
