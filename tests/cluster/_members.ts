/** Clients under load, which come back whenever they lose their connection, and remember how each request ended. */
import { io, type Socket } from "socket.io-client";
import { within } from "../fixtures/within.ts";

/** How long a client tries to connect, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;
/** The time-out of a request, in seconds. */
const REQUEST_TIMEOUT_S = 10;

/** How a request ended. */
export type Outcome = "answered" | "refused" | "disconnected";

/** What happened in one office. */
export class Ledger {
  readonly outcomes: Record<Outcome, number> = { answered: 0, refused: 0, disconnected: 0 };
  /** The codes of errors, with their counts. */
  readonly codes = new Map<unknown, number>();
  /** Anything that must not happen. */
  readonly violations: string[] = [];
  #joins = 0;
  /** The successes of each membership of an Agent, by the number of its join. */
  readonly #successes = new Map<number, number>();
  /** The last membership with two successes: whatever the Server sent to an earlier one before, has been read by then. */
  #established = 0;

  /** Counts the join of an Agent. */
  onJoined(): number {
    return ++this.#joins;
  }

  onEnded(outcome: Outcome, { tenure, agent, code }: {
    readonly tenure: number;
    readonly agent: string;
    readonly code?: unknown;
  }): void {
    this.outcomes[outcome]++;
    if (outcome === "refused") this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (outcome !== "answered") return;
    if (tenure < this.#established) this.violations.push(`"${agent}" was answered after another Agent`);
    const successes = (this.#successes.get(tenure) ?? 0) + 1;
    this.#successes.set(tenure, successes);
    if (successes === 2 && tenure > this.#established) this.#established = tenure;
  }
}

/** A member that wants to be in its office for ever. */
export class Member implements AsyncDisposable {
  readonly name: string;
  readonly office: string;
  readonly role: "agent" | "computer";
  readonly #url: string;
  readonly #transport: "websocket" | "polling";
  readonly #session: string | undefined;
  readonly #ledger: Ledger;
  readonly #running: Promise<void>;
  #socket: Socket | undefined;
  /** Ends the present connection's turn. */
  #end = () => {};
  #tenure: number | undefined;
  #isStopped = false;
  #changed = Promise.withResolvers<void>();
  /** How often it has joined. */
  joins = 0;
  /** Farewells of the Server. */
  readonly farewells: string[] = [];
  /** The reason of the last refused join. */
  refusal: string | undefined;
  /** The answers that a Computer holds back; `undefined` while it answers at once. */
  #heldBack: (() => void)[] | undefined;

  constructor(options: {
    readonly name: string;
    readonly office: string;
    readonly role: "agent" | "computer";
    readonly url: string;
    readonly ledger: Ledger;
    readonly transport?: "websocket" | "polling";
    readonly session?: string;
  }) {
    this.name = options.name;
    this.office = options.office;
    this.role = options.role;
    this.#url = options.url;
    this.#ledger = options.ledger;
    this.#transport = options.transport ?? "websocket";
    this.#session = options.session;
    this.#running = this.#run();
  }

  /** Whether the Server has acknowledged its join, and the connection is open. */
  get isIn(): boolean {
    return this.#tenure !== undefined && (this.#socket?.connected ?? false);
  }

  /** Resolves when it is in its office. */
  async joined(): Promise<void> {
    while (!this.isIn) {
      await within(this.#changed.promise, () => `"${this.name}" in "${this.office}": ${this.refusal}`);
    }
  }

  /** Makes a Computer hold its answers back. */
  holdBack(): void {
    this.#heldBack = [];
  }

  /** The number of answers that it holds back. */
  get heldBack(): number {
    return this.#heldBack?.length ?? 0;
  }

  /** Sends the answers that were held back, and answers at once from then on. */
  release(): void {
    const held = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const send of held) send();
  }

  /** Makes it stay away after the next loss of its connection. */
  stayAway(): void {
    this.#isStopped = true;
  }

  /** Sends a request, and resolves to how it ended. */
  async call(computer: string, reqId: string): Promise<Outcome> {
    const socket = this.#socket;
    const tenure = this.#tenure;
    if (socket === undefined || tenure === undefined) return "disconnected";
    const body = {
      agent: this.name,
      req_id: reqId,
      computer,
      tool_name: "echo",
      params: {},
      timeout: REQUEST_TIMEOUT_S,
    };
    const ended = Promise.withResolvers<readonly [Outcome, unknown?]>();
    const onLost = () => ended.resolve(["disconnected"]);
    socket.once("disconnect", onLost);
    socket.emit(
      "client:tool_call",
      body,
      (answer: { readonly req_id?: unknown; readonly code?: unknown }) => {
        ended.resolve(answer.code === undefined ? ["answered"] : ["refused", answer.code]);
        const isOwn = answer.code !== undefined || answer.req_id === reqId;
        if (!isOwn) this.#ledger.violations.push(`"${reqId}" got the answer to "${answer.req_id}"`);
      },
    );
    const [outcome, code] = await within(ended.promise, `the end of request "${reqId}"`);
    socket.off("disconnect", onLost);
    this.#ledger.onEnded(outcome, { tenure, agent: this.name, code });
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#socket?.disconnect();
    this.#socket?.io.engine?.close();
    // A socket that is still connecting reports nothing.
    this.#end();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const socket = this.#open();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      this.#socket = socket;
      this.#end = end;
      const seen = new Set<unknown>();
      socket.io.on("packet", ({ type, id }) => {
        if (type !== 3) return;
        if (seen.has(id)) this.#ledger.violations.push(`"${this.name}" got two answers to request ${id}`);
        seen.add(id);
      });
      socket.on(
        "notify:connection_closing",
        ({ code }: { readonly code: string }) => this.farewells.push(code),
      );
      socket.once("connect", () => this.#join(socket));
      socket.once("connect_error", () => end());
      socket.once("disconnect", () => end());
      socket.connect();
      await ended;
      this.#tenure = undefined;
      socket.io.engine?.close();
      socket.io.removeAllListeners();
      socket.removeAllListeners();
    }
  }

  #open(): Socket {
    const socket = io(`${this.#url}/smcp`, {
      query: { a2c_version: "0.2.0", client: `${this.office}-${this.name}` },
      auth: this.#session === undefined ? {} : { session: this.#session },
      transports: [this.#transport],
      timeout: CONNECT_TIMEOUT_MS,
      reconnection: false,
      forceNew: true,
      autoConnect: false,
    });
    if (this.role === "computer") {
      socket.on("client:tool_call", (body: { readonly req_id: string }, ack: (answer: unknown) => void) => {
        const send = () => ack({ content: [], isError: false, req_id: body.req_id });
        if (this.#heldBack === undefined) send();
        else this.#heldBack.push(send);
      });
    }
    return socket;
  }

  /** Asks until it is in, as the clients of this project do. */
  #join(socket: Socket): void {
    const body = { role: this.role, name: this.name, office_id: this.office };
    socket.emit("server:join_office", body, (accepted: boolean, reason?: string) => {
      if (!accepted) {
        this.refusal = reason;
        const timer = setTimeout(() => this.#join(socket), 50 + Math.random() * 50);
        return void socket.once("disconnect", () => clearTimeout(timer));
      }
      this.#tenure = this.role === "agent" ? this.#ledger.onJoined() : 0;
      this.joins++;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }
}
