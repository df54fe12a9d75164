/** Requests between processes: two messages each, whatever the number of processes. */
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { settledWithin } from "../../../async/abortable.ts";
import { describeError, quoted } from "../../../text/text.ts";
import type { Logger } from "../../../log.ts";
import type { Timeouts } from "../../../async/timeouts.ts";
import { type Connection, nestedTooDeep, type Target } from "../../relay/connection.ts";
import { computerNotFound } from "../../relay/presence.ts";
import type { Drain } from "../../drain.ts";
import { rawArgumentsOf } from "../../engine/raw.ts";
import {
  errorCodeOf,
  type ObserverRequests,
  PendingRequest,
  type RelayedRequest,
  type Settlement,
  type Side,
} from "../../relay/pending_requests.ts";
import { noMemory } from "../../engine/budget.ts";
import { answerLost, outOfReach } from "../offices.ts";
import { Peer, type Routed } from "./peer.ts";
import {
  type MessageOf,
  type ProcessMessage,
  readAnswer,
  readBody,
  readMessage,
  writeArguments,
  writeMessage,
} from "./messages.ts";
import { ALL_PROCESSES, type Seat } from "./store.ts";

/** The bounds of a Server that hold for requests of other processes as well. */
export interface CourierBounds {
  readonly timeouts: Timeouts;
  readonly observerRequests: ObserverRequests;
  /** Refuses requests when the Server shuts down. */
  readonly drain: Pick<Drain, "refusal">;
  readonly logger: Logger;
}

export interface CourierContext extends CourierBounds {
  /** The fence under which answers reach this process. */
  fence(): string;
  readonly connections: Pick<ReadonlyMap<string, Connection>, "get">;
  isServing(sid: string): boolean;
  /** Publishes a message to the private channel of a process; resolves to the number of its receivers. */
  publish(fence: string, message: string): Promise<number>;
  /** Gives the seats of a session up to a newer connection. */
  replace(message: MessageOf<"replace">): void;
}

/** Short messages that go ahead of all others. */
const AHEAD: readonly string[] = ["replace", "replaced", "received"] satisfies ProcessMessage["kind"][];

type AskContext = Parameters<Target["ask"]>[1];

export class Courier {
  readonly #context: CourierContext;
  readonly #peers = new Map<string, Peer>();
  /** By the `sid` of a newer connection: called when the process of the older one has ended that. */
  readonly #replacing = new Map<string, () => void>();
  #lastId = 0;

  constructor(context: CourierContext) {
    this.#context = context;
  }

  /** The fences of processes with requests in flight, to or from here, or with which there were any. */
  peers(): readonly string[] {
    return [...this.#peers.keys()];
  }

  /** The Computer that has a seat in another process, which counts the requests to it. */
  targetOf(seat: Seat): Target {
    return {
      name: seat.name,
      tell: (event, body) => this.#tell(seat, event, body),
      ask: (request, context) => this.#ask(seat, request, context),
    };
  }

  /** Handles a message on the private channel. Never throws. */
  receive(text: string): void {
    const { logger } = this.#context;
    const read = readMessage(text);
    if (read === undefined) return logger.warn("ignored a malformed message of another process");
    const { message } = read;
    try {
      // Short messages that go ahead are not under way until they are confirmed.
      if (!AHEAD.includes(message.kind)) this.#confirm(message.from, text);
      this.#handle(message, read.text);
    } catch (error) {
      const fields = { kind: message.kind, error: describeError(error) };
      logger.error("failed to handle a message of another process", fields);
    }
  }

  /** Ends the requests to and from a process whose lease has ended. */
  onLost(fence: string): void {
    const peer = this.#peers.get(fence);
    if (peer === undefined) return;
    this.#peers.delete(fence);
    // First: a request that fails makes room for others that wait.
    peer.clear();
    for (const pending of [...peer.outgoing.values()]) {
      const { request: { computer } } = pending;
      pending.fail(computerNotFound(computer, "was lost during the request", { mayHaveRun: true }));
    }
    for (const pending of [...peer.incoming.values()]) pending.drop({ mayReturn: true });
  }

  /** Ends the requests to other processes: their answers may have been lost. */
  failOutgoing(): void {
    for (const peer of this.#peers.values()) peer.clear();
    for (const { outgoing } of this.#peers.values()) {
      for (const pending of [...outgoing.values()]) pending.fail(answerLost(pending.request));
    }
  }

  /** Ends all requests to and from other processes: this one has a new fence. */
  forgetRequests(): void {
    this.failOutgoing();
    for (const { incoming } of this.#peers.values()) {
      for (const pending of [...incoming.values()]) pending.drop({ mayReturn: true });
    }
  }

  /** Tells all processes that older connections of the session of a seat give their seats in other offices up. */
  replace({ sid: newer, sessionId, officeId: exceptOffice }: Seat): void {
    if (sessionId === undefined) return;
    const message = { kind: "replace", from: this.#context.fence(), sessionId, newer, exceptOffice } as const;
    this.#sendAhead(ALL_PROCESSES, message);
  }

  /** Asks a process to end the older connections of a session, and resolves to whether it says so within the time. */
  async endOlder({ sid: newer, sessionId = "" }: Seat, fence: string, timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#replacing.set(newer, () => resolve(true));
    const message = {
      kind: "replace",
      from: this.#context.fence(),
      sessionId,
      newer,
      exceptOffice: "",
    } as const;
    this.#sendAhead(fence, message);
    return await settledWithin(promise, timeoutMs).finally(() => this.#replacing.delete(newer)) ?? false;
  }

  #peer(fence: string): Peer {
    const peer = this.#peers.get(fence) ?? new Peer((message) => this.#context.publish(fence, message));
    this.#peers.set(fence, peer);
    return peer;
  }

  #tell({ fence, sid, officeId, name }: Seat, event: string, body: unknown): void {
    const peer = this.#peer(fence);
    const text = write(peer, { event, computer: name, officeId }, [event, body]);
    const message = { kind: "tell", from: this.#context.fence(), sid, officeId, event } as const;
    this.#watch(peer.send(writeMessage(message, text), { officeId }));
  }

  #ask({ fence, sid }: Seat, request: RelayedRequest, { body, ...context }: AskContext): void {
    const { officeId, event } = request;
    const peer = this.#peer(fence);
    const text = write(peer, request, [event, body]);
    const id = ++this.#lastId;
    const pending = this.#await(request, {
      ...context,
      peer,
      drop: { kind: "drop", id, from: this.#context.fence(), sid },
    });
    pending.onSent(text.length);
    const message = writeMessage({ ...request, kind: "ask", id, from: this.#context.fence(), sid }, text);
    peer.send(message, { officeId, key: pending }).then((receivers) => {
      if (receivers === 0) this.onLost(fence);
    }, (error) => {
      peer.clear();
      pending.fail(outOfReach(`relay "${quoted(event)}"`, error));
    });
  }

  /** A separate method, so that its closure does not keep the body in memory. */
  #await(request: RelayedRequest, { peer, drop, sides, onSettled }: Omit<AskContext, "body"> & {
    readonly peer: Peer;
    readonly drop: Omit<MessageOf<"drop">, "mayReturn">;
  }): PendingRequest {
    const { officeId } = request;
    const pending: PendingRequest = new PendingRequest(request, {
      sides: [toSide(peer.outgoing, drop.id), ...sides],
      timeouts: this.#context.timeouts,
      onSettled: (settlement) => {
        // A request that waits is not sent any more.
        const wasSent = settlement.kind === "answered" || !peer.cancel(officeId, pending);
        if (settlement.kind === "dropped" && wasSent) {
          const { mayReturn } = settlement;
          this.#watch(peer.send(writeMessage({ ...drop, mayReturn }), { officeId }));
        }
        onSettled(settlement);
      },
    });
    return pending;
  }

  /** Logs that a message was not sent. Its loss has no effect beyond itself. */
  #watch(sending: Promise<number>): void {
    sending.catch((error) => {
      const fields = { error: describeError(error) };
      this.#context.logger.debug("failed to send a message to another process", fields);
    });
  }

  /** Sends a short message at once, before those that wait. */
  #sendAhead(fence: string, message: ProcessMessage): void {
    this.#watch(this.#context.publish(fence, writeMessage(message)));
  }

  #confirm(from: string, whole: string): void {
    const bytes = this.#peer(from).onReceived(whole);
    if (bytes !== undefined) this.#sendAhead(from, { kind: "received", from: this.#context.fence(), bytes });
  }

  #handle(message: ProcessMessage, text: string): void {
    const { outgoing } = this.#peers.get(message.from) ?? {};
    switch (message.kind) {
      case "ask":
      case "tell":
      case "drop":
        return this.#pass(message, text);
      case "answer":
        return outgoing?.get(message.id)?.ack(...readAnswer(text, message.errorCode));
      case "fail":
        return outgoing?.get(message.id)?.fail(toError(message));
      case "replace":
        this.#context.replace(message);
        if (message.exceptOffice !== "") return;
        return this.#sendAhead(message.from, {
          kind: "replaced",
          from: this.#context.fence(),
          newer: message.newer,
        });
      case "replaced":
        return this.#replacing.get(message.newer)?.();
      case "received":
        return this.#peers.get(message.from)?.onConfirmed(message.bytes);
    }
  }

  /**
   * Passes a message on to its Computer, behind those before it. The connection may still be joining: the request can arrive
   * before the reply to its join.
   */
  #pass(message: MessageOf<"ask" | "tell" | "drop">, text: string): void {
    const deferred = this.#context.connections.get(message.sid)?.deferred;
    const pass = () => this.#passNow(message, text);
    if (deferred === undefined) pass();
    else if (message.kind === "drop") deferred.after(pass);
    else if (!deferred.defer(text.length, pass)) this.#onRefused(message, noMemory(text.length));
  }

  /** Never throws. */
  #passNow(message: MessageOf<"ask" | "tell" | "drop">, text: string): void {
    try {
      if (message.kind === "ask") this.#askHere(message, text);
      else if (message.kind === "drop") {
        this.#peers.get(message.from)?.incoming.get(message.id)?.drop(message);
      } else this.#memberOf(message)?.tell(message.event, readBody(text));
    } catch (error) {
      this.#onRefused(message, error);
    }
  }

  #onRefused(message: MessageOf<"ask" | "tell" | "drop">, error: unknown): void {
    if (message.kind === "ask") return this.#answer(message, { kind: "failed", error });
    if (message.kind === "drop") return;
    // Its sender waits for no answer.
    const code = error instanceof SmcpError ? error.code : undefined;
    const fields = { event: quoted(message.event), code, reason: describeError(error) };
    const { log } = this.#context.connections.get(message.sid) ?? {};
    log?.write("warn", "failed to pass on an event of another process", fields);
  }

  #memberOf({ sid, officeId }: MessageOf<"ask" | "tell">): Connection | undefined {
    const connection = this.#context.connections.get(sid);
    return connection?.member?.officeId === officeId && this.#context.isServing(sid) ? connection : undefined;
  }

  #askHere(message: MessageOf<"ask">, text: string): void {
    const { officeId, computer, isObserving } = message;
    const { observerRequests, drain } = this.#context;
    if (drain.refusal !== undefined) throw drain.refusal;
    const connection = this.#memberOf(message);
    // The Computer may have come back under another name.
    if (connection === undefined || connection.member?.name !== computer) throw computerNotFound(computer);
    const sender = toSide(this.#peer(message.from).incoming, message.id);
    if (isObserving) observerRequests.requireRoom(officeId);
    const sides = isObserving ? [sender, observerRequests] : [sender];
    const onSettled = (settlement: Settlement) => this.#answer(message, settlement);
    connection.ask(message, { body: readBody(text), sides, onSettled });
  }

  #answer(message: MessageOf<"ask">, settlement: Settlement): void {
    const { id, from, sid, computer, officeId } = message;
    if (settlement.kind === "dropped") return;
    const peer = this.#peer(from);
    const reply = { id, from: this.#context.fence() };
    const fail = (error: unknown) =>
      this.#watch(peer.send(writeMessage(toFailure(reply, error)), { officeId }));
    if (settlement.kind === "failed") return fail(settlement.error);
    if (!this.#context.isServing(sid)) return fail(computerNotFound(computer));
    try {
      const text = write(peer, message, settlement.answer);
      const answer = { ...reply, kind: "answer", errorCode: errorCodeOf(settlement.answer) } as const;
      this.#watch(peer.send(writeMessage(answer, text), { officeId }));
    } catch (error) {
      fail(error);
    }
  }
}

/**
 * Writes arguments for a process. Throws a 413 when too much waits for it, before it copies up to the largest message, and a
 * 400 for arguments that are nested too deep.
 */
function write(peer: Peer, routed: Routed, values: readonly unknown[]): string {
  // The size of attachments is not known yet.
  peer.requireRoom(routed, rawArgumentsOf(values)?.size ?? Infinity);
  try {
    return writeArguments(values);
  } catch (error) {
    throw error instanceof RangeError ? nestedTooDeep(routed.event) : error;
  }
}

/** The side of a request that another process has: this one keeps the request until it ends. */
function toSide(requests: Map<number, PendingRequest>, id: number): Side {
  return {
    add: (pending) => requests.set(id, pending),
    delete: () => requests.delete(id),
  };
}

/** Builds the message of a request that has failed. Errors that are not of the protocol are not told to others. */
function toFailure(reply: Pick<MessageOf<"fail">, "id" | "from">, error: unknown): MessageOf<"fail"> {
  const { code, message, details } = error instanceof SmcpError
    ? error
    : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  return { ...reply, kind: "fail", code, message, details };
}

function toError({ code, message, details }: MessageOf<"fail">): SmcpError {
  return new SmcpError(code, message, details === undefined ? {} : { details });
}
