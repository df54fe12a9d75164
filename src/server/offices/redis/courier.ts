/** Requests between processes: two messages each, whatever the number of processes. */
import { SmcpError } from "../../../protocol/errors.ts";
import { describeError } from "../../../text.ts";
import type { Logger } from "../../../log.ts";
import {
  computerNotFound,
  type Connection,
  nestedTooDeep,
  type Requester,
  type Target,
} from "../../relay/connection.ts";
import type { Drain } from "../../drain.ts";
import { type LoadLimits, quoted } from "../../limits.ts";
import { Load, type OfficeLoads } from "../../relay/load.ts";
import { rawArgumentsOf } from "../../raw.ts";
import { PendingRequest, type RelayedRequest, type Settlement } from "../../relay/pending_requests.ts";
import { noMemory } from "../../memory_budget.ts";
import type { TimingWheel } from "../../timing_wheel.ts";
import { answerLost, outOfReach } from "../offices.ts";
import {
  errorCodeOf,
  type MessageOf,
  type ProcessMessage,
  readAnswer,
  readBody,
  readMessage,
  toError,
  toFailure,
  writeArguments,
  writeMessage,
} from "./messages.ts";
import { Flows, type Routed } from "./flows.ts";
import type { Seat } from "./seat.ts";

/** The bounds of a Server that hold for requests of other processes as well. */
export interface CourierBounds {
  readonly timeouts: TimingWheel;
  readonly officeLoads: OfficeLoads;
  readonly observerLoads: OfficeLoads;
  readonly loadLimits: LoadLimits;
  /** Refuses requests when the Server shuts down. */
  readonly drain: Pick<Drain, "refusal">;
  readonly logger: Logger;
}

export interface CourierOffice {
  /** The fence under which answers reach this process. */
  readonly fence: string;
  connection(sid: string): Connection | undefined;
  isServing(sid: string): boolean;
  /** Publishes a message to the private channel of a process; resolves to the number of its receivers. */
  publish(fence: string, message: string): Promise<number>;
  /** Stops acting for a connection for a while; a newer one takes its place. */
  onEvicted(sid: string): void;
}

interface Outgoing {
  readonly pending: PendingRequest;
  readonly fence: string;
}

export class Courier {
  readonly #bounds: CourierBounds;
  readonly #office: CourierOffice;
  readonly #flows: Flows;
  #lastId = 0;
  readonly #outgoing = new Map<number, Outgoing>();
  /** Requests of other processes, by fence and id. */
  readonly #incoming = new Map<string, Map<number, PendingRequest>>();
  readonly #evictions = new Map<number, () => void>();

  constructor(office: CourierOffice, bounds: CourierBounds) {
    this.#office = office;
    this.#bounds = bounds;
    this.#flows = new Flows((fence, message) => office.publish(fence, message));
  }

  /** The fences of processes with requests in flight, to or from here, or with which there were any. */
  peers(): ReadonlySet<string> {
    const fences = new Set([...this.#incoming.keys(), ...this.#flows.fences()]);
    for (const { fence } of this.#outgoing.values()) fences.add(fence);
    return fences;
  }

  toTarget(seat: Seat): Target {
    const targetLoad = new Load();
    return {
      targetLoad,
      tell: (event, body) => this.#tell(seat, { event, body }),
      ask: (request, context) => this.#ask(seat, { ...context, request, targetLoad }),
    };
  }

  /** Handles a message on the private channel. Never throws. */
  receive(text: string): void {
    const read = readMessage(text);
    if (read === undefined) return this.#bounds.logger.warn("ignored a malformed message of another process");
    try {
      this.#confirm(read.message, text);
      this.#handle(read.message, read.text);
    } catch (error) {
      this.#logUnhandled(read.message, error);
    }
  }

  #logUnhandled({ kind }: ProcessMessage, error: unknown): void {
    this.#bounds.logger.error("failed to handle a message of another process", {
      kind,
      error: describeError(error),
    });
  }

  /** Ends the requests to and from a process whose lease has ended. */
  onLost(fence: string): void {
    // First: a request that fails makes room for others that wait.
    this.#flows.end(fence);
    for (const { pending, fence: asked } of [...this.#outgoing.values()]) {
      if (asked === fence) {
        pending.fail(computerNotFound(pending.request.computer, "was lost while the request was in flight"));
      }
    }
    for (const pending of [...this.#incoming.get(fence)?.values() ?? []]) pending.drop();
  }

  /** Ends the requests to other processes: their answers may have been lost. */
  failOutgoing(): void {
    this.#flows.clear();
    for (const { pending } of [...this.#outgoing.values()]) {
      pending.fail(answerLost(pending.request));
    }
  }

  /** Ends the requests of other processes: they no longer wait for the answers. */
  dropIncoming(): void {
    for (const requests of [...this.#incoming.values()]) {
      for (const pending of [...requests.values()]) pending.drop();
    }
  }

  /** Asks the process of a seat to stop acting for it; resolves to whether it confirms that in time. */
  async evict({ fence, member }: Seat, timeoutMs: number): Promise<boolean> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#evictions.set(id, () => resolve(true));
    try {
      const message = { kind: "evict", id, from: this.#office.fence, sid: member.sid } as const;
      if (await this.#office.publish(fence, writeMessage(message)) === 0) return false;
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#evictions.delete(id);
    }
  }

  #tell({ fence, member }: Seat, { event, body }: { readonly event: string; readonly body: unknown }): void {
    const { sid, officeId, name } = member;
    const text = this.#write(fence, { event, computer: name, officeId }, [event, body]);
    const message = writeMessage({ kind: "tell", from: this.#office.fence, sid, officeId, event }, text);
    this.#send(fence, message, officeId);
  }

  #ask({ fence, member: { sid } }: Seat, { request, body, requester, targetLoad, onSettled }: {
    readonly request: RelayedRequest;
    readonly body: unknown;
    readonly requester: Requester;
    readonly targetLoad: Load;
    readonly onSettled: (settlement: Settlement) => void;
  }): void {
    const text = this.#write(fence, request, [request.event, body]);
    const { officeId } = request;
    const id = ++this.#lastId;
    const bytes = text.length;
    const pending = this.#await(request, {
      id,
      fence,
      sid,
      loads: [targetLoad, requester.requesterLoad],
      bytes,
      requester,
      onSettled,
    });
    const message = writeMessage({ ...request, kind: "ask", id, from: this.#office.fence, sid }, text);
    this.#flows.send(fence, message, { officeId, key: pending }).then((receivers) => {
      if (receivers === 0) this.onLost(fence);
    }, (error) => {
      this.#flows.end(fence);
      pending.fail(outOfReach(`relay "${quoted(request.event)}"`, error));
    });
  }

  /** Adds a request to the lists. A separate method, so that its closure does not keep the body in memory. */
  #await(request: RelayedRequest, { id, fence, sid, loads, bytes, requester, onSettled }: {
    readonly id: number;
    readonly fence: string;
    readonly sid: string;
    readonly loads: readonly Load[];
    readonly bytes: number;
    readonly requester: Requester;
    readonly onSettled: (settlement: Settlement) => void;
  }): PendingRequest {
    const { officeLoads, observerLoads, timeouts } = this.#bounds;
    const { officeId, isObserving } = request;
    const pending: PendingRequest = new PendingRequest({
      request,
      timeouts,
      onSettled: (settlement) => {
        this.#outgoing.delete(id);
        requester.onEnded(pending);
        for (const load of loads) load.remove(bytes);
        officeLoads.remove(officeId, bytes);
        if (isObserving) observerLoads.remove(officeId, bytes);
        // A request that waits is not sent any more.
        const isSent = settlement.kind === "answered" ||
          !this.#flows.cancel(fence, { officeId, key: pending });
        if (settlement.kind === "dropped" && isSent) {
          this.#send(fence, writeMessage({ kind: "drop", id, from: this.#office.fence, sid }), officeId);
        }
        onSettled(settlement);
      },
    });
    this.#outgoing.set(id, { pending, fence });
    requester.onOpened(pending);
    for (const load of loads) load.add(bytes);
    officeLoads.add(officeId, bytes);
    if (isObserving) observerLoads.add(officeId, bytes);
    return pending;
  }

  /**
   * Writes arguments for a process. Throws a 413 when too much waits for it, and a 400 for arguments that are nested too deep.
   */
  #write(fence: string, routed: Routed, values: readonly unknown[]): string {
    // Writing copies up to the largest message, so what can be refused is refused before.
    const knownLength = rawArgumentsOf(values)?.length;
    if (knownLength !== undefined) this.#flows.requireRoom(fence, routed, knownLength);
    try {
      const text = writeArguments(values);
      if (knownLength === undefined) this.#flows.requireRoom(fence, routed, text.length);
      return text;
    } catch (error) {
      throw error instanceof RangeError ? nestedTooDeep(routed.event) : error;
    }
  }

  /** Sends a message whose loss has no effect beyond itself. */
  #send(fence: string, message: string, officeId: string): void {
    this.#logFailure(this.#flows.send(fence, message, { officeId }));
  }

  /** Sends a short message at once, before those that wait. */
  #sendAhead(fence: string, message: ProcessMessage): void {
    this.#logFailure(this.#office.publish(fence, writeMessage(message)));
  }

  #logFailure(sending: Promise<number>): void {
    sending.catch((error) => {
      this.#bounds.logger.debug("failed to send a message to another process", {
        error: describeError(error),
      });
    });
  }

  #confirm(message: ProcessMessage, whole: string): void {
    if (message.kind === "evict" || message.kind === "evicted" || message.kind === "received") return;
    const { from } = message;
    const bytes = this.#flows.onReceived(from, whole);
    if (bytes !== undefined) this.#sendAhead(from, { kind: "received", from: this.#office.fence, bytes });
  }

  #handle(message: ProcessMessage, text: string): void {
    switch (message.kind) {
      case "ask":
        return this.#onAsked(message, text);
      case "tell":
        return this.#onTold(message, text);
      case "answer":
        return this.#outgoing.get(message.id)?.pending.ack(...readAnswer(text, message.errorCode));
      case "fail":
        return this.#outgoing.get(message.id)?.pending.fail(toError(message));
      case "drop":
        return this.#onDropped(message);
      case "evict":
        this.#office.onEvicted(message.sid);
        return this.#sendAhead(message.from, { kind: "evicted", id: message.id });
      case "evicted":
        return this.#evictions.get(message.id)?.();
      case "received":
        return this.#flows.onConfirmed(message.from, message.bytes);
    }
  }

  #onTold(message: MessageOf<"tell">, text: string): void {
    const { sid, officeId, event } = message;
    // Its sender waits for no answer.
    const onFailed = (error: unknown) => {
      if (!(error instanceof SmcpError)) throw error;
      const fields = { event: quoted(event), code: error.code, reason: error.message };
      const { log } = this.#office.connection(sid) ?? {};
      log?.write("warn", "failed to pass on an event of another process", fields);
    };
    const refusal = this.#countWaiting(message, text);
    if (refusal !== undefined) return onFailed(refusal);
    this.#whenSettled(message, () => {
      try {
        this.#memberOf(sid, officeId)?.tell(event, readBody(text));
      } catch (error) {
        // It has too many unread bytes.
        onFailed(error);
      }
    });
  }

  #onDropped(message: MessageOf<"drop">): void {
    const { from, id } = message;
    this.#whenSettled(message, () => this.#incoming.get(from)?.get(id)?.drop());
  }

  #onAsked(message: MessageOf<"ask">, text: string): void {
    const refusal = this.#countWaiting(message, text);
    if (refusal !== undefined) return this.#answer(message, { kind: "failed", error: refusal });
    this.#whenSettled(message, () => {
      try {
        this.#askHere(message, text);
      } catch (error) {
        this.#answer(message, { kind: "failed", error });
      }
    });
  }

  /**
   * Handles a message behind those before it. The connection may still be joining: the request can arrive before the reply
   * to its join.
   */
  #whenSettled(message: MessageOf<"tell" | "drop" | "ask">, handle: () => void): void {
    const held = this.#office.connection(message.sid)?.held;
    if (held === undefined) return handle();
    // A rejection that nobody handles would end the process.
    held.released.then(handle).catch((error) => this.#logUnhandled(message, error));
  }

  /** Counts a message that waits as {@linkcode Courier.#whenSettled} says; returns the refusal if there is no memory for it. */
  #countWaiting({ sid }: MessageOf<"tell" | "ask">, { length }: string): SmcpError | undefined {
    const held = this.#office.connection(sid)?.held;
    return held === undefined || held.count(length) ? undefined : noMemory(length);
  }

  #memberOf(sid: string, officeId: string): Connection | undefined {
    const connection = this.#office.connection(sid);
    return connection?.member?.officeId === officeId && this.#office.isServing(sid) ? connection : undefined;
  }

  #askHere(message: MessageOf<"ask">, text: string): void {
    const { sid, officeId, computer, isObserving } = message;
    const { loadLimits, officeLoads, observerLoads, drain } = this.#bounds;
    const refusal = drain.refusal();
    if (refusal !== undefined) throw refusal;
    const connection = this.#memberOf(sid, officeId);
    // The Computer may have come back under another name.
    if (connection === undefined || connection.member?.name !== computer) throw computerNotFound(computer);
    connection.targetLoad.requireCapacity(`Computer '${computer}'`, loadLimits.target);
    officeLoads.get(officeId).requireCapacity("this office", loadLimits.office);
    if (isObserving) {
      observerLoads.get(officeId).requireCapacity("the observers of this office", loadLimits.observers);
    }
    const onSettled = (settlement: Settlement) => this.#answer(message, settlement);
    connection.ask(message, { body: readBody(text), requester: this.#toRequester(message), onSettled });
  }

  /** Keeps a request of another process until it ends, for the case that its sender leaves. */
  #toRequester({ from, id }: MessageOf<"ask">): Requester {
    return {
      requesterLoad: new Load(),
      onOpened: (pending) => {
        const requests = this.#incoming.get(from) ?? new Map<number, PendingRequest>();
        this.#incoming.set(from, requests.set(id, pending));
      },
      onEnded: () => {
        const requests = this.#incoming.get(from);
        requests?.delete(id);
        if (requests?.size === 0) this.#incoming.delete(from);
      },
    };
  }

  #answer(message: MessageOf<"ask">, settlement: Settlement): void {
    const { id, from, sid, computer, officeId } = message;
    if (settlement.kind === "dropped") return;
    const reply = { id, from: this.#office.fence };
    const fail = (error: unknown) => this.#send(from, writeMessage(toFailure(reply, error)), officeId);
    if (settlement.kind === "failed") return fail(settlement.error);
    if (!this.#office.isServing(sid)) return fail(computerNotFound(computer));
    try {
      const errorCode = errorCodeOf(settlement.answer);
      const text = this.#write(from, message, settlement.answer);
      this.#send(from, writeMessage({ ...reply, kind: "answer", errorCode }, text), officeId);
    } catch (error) {
      fail(error);
    }
  }
}
