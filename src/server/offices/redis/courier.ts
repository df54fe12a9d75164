/** Requests between processes: two messages each, whatever the number of processes. */
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { describeError, quoted } from "../../../text.ts";
import type { Logger } from "../../../log.ts";
import { computerNotFound, type Connection, nestedTooDeep, type Target } from "../../relay/connection.ts";
import type { Drain } from "../../drain.ts";
import { rawArgumentsOf } from "../../engine/raw.ts";
import {
  errorCodeOf,
  Load,
  type LoadLimits,
  PendingRequest,
  type RelayedRequest,
  type RequestContext,
  type Settlement,
  type Side,
} from "../../relay/pending_requests.ts";
import { noMemory } from "../../engine/budget.ts";
import { answerLost, outOfReach } from "../offices.ts";
import { Flows, type Routed } from "./flows.ts";
import {
  type MessageOf,
  type ProcessMessage,
  readAnswer,
  readBody,
  readMessage,
  writeArguments,
  writeMessage,
} from "./messages.ts";
import type { Seat } from "./store.ts";

/** The bounds of a Server that hold for requests of other processes as well. */
export interface CourierBounds extends RequestContext {
  readonly loadLimits: LoadLimits;
  /** Refuses requests when the Server shuts down. */
  readonly drain: Pick<Drain, "refusal">;
  readonly logger: Logger;
}

export interface CourierContext extends CourierBounds {
  /** The fence under which answers reach this process. */
  fence(): string;
  connection(sid: string): Connection | undefined;
  isServing(sid: string): boolean;
  /** Publishes a message to the private channel of a process; resolves to the number of its receivers. */
  publish(fence: string, message: string): Promise<number>;
  /** Stops acting for a connection for a while; a newer one takes its place. */
  evict(sid: string): void;
}

/** A request to or from another process. */
interface Travelling {
  readonly pending: PendingRequest;
  readonly fence: string;
}

type AskContext = Parameters<Target["ask"]>[1];

export class Courier {
  readonly #context: CourierContext;
  readonly #flows: Flows;
  #lastId = 0;
  readonly #outgoing = new Map<number, Travelling>();
  /** By fence and id. */
  readonly #incoming = new Map<string, Travelling>();
  readonly #evictions = new Map<number, () => void>();

  constructor(context: CourierContext) {
    this.#context = context;
    this.#flows = new Flows((fence, message) => context.publish(fence, message));
  }

  /** The fences of processes with requests in flight, to or from here, or with which there were any. */
  peers(): readonly string[] {
    return this.#flows.fences();
  }

  /** The Computer that has a seat in another process, which counts the requests to it. */
  targetOf(seat: Seat): Target {
    return {
      targetLoad: new Load(),
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
      this.#confirm(message, text);
      this.#handle(message, read.text);
    } catch (error) {
      const fields = { kind: message.kind, error: describeError(error) };
      logger.error("failed to handle a message of another process", fields);
    }
  }

  /** Ends the requests to and from a process whose lease has ended. */
  onLost(fence: string): void {
    // First: a request that fails makes room for others that wait.
    this.#flows.end(fence);
    for (const { pending, fence: asked } of [...this.#outgoing.values()]) {
      if (asked !== fence) continue;
      pending.fail(computerNotFound(pending.request.computer, "was lost while the request was in flight"));
    }
    for (const { pending, fence: asking } of [...this.#incoming.values()]) {
      if (asking === fence) pending.drop();
    }
  }

  /** Ends the requests to other processes: their answers may have been lost. */
  failOutgoing(): void {
    this.#flows.clear();
    for (const { pending } of [...this.#outgoing.values()]) pending.fail(answerLost(pending.request));
  }

  /** Ends all requests to and from other processes: this one has a new fence. */
  forgetRequests(): void {
    this.failOutgoing();
    for (const { pending } of [...this.#incoming.values()]) pending.drop();
  }

  /** Asks the process of a seat to stop acting for it; resolves to whether it confirms that in time. */
  async evict({ fence, sid }: Seat, timeoutMs: number): Promise<boolean> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#evictions.set(id, () => resolve(true));
    try {
      const message = writeMessage({ kind: "evict", id, from: this.#context.fence(), sid });
      if (await this.#context.publish(fence, message) === 0) return false;
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#evictions.delete(id);
    }
  }

  #tell({ fence, sid, officeId, name }: Seat, event: string, body: unknown): void {
    const text = this.#write(fence, { event, computer: name, officeId }, [event, body]);
    this.#send(fence, officeId, { kind: "tell", from: this.#context.fence(), sid, officeId, event }, text);
  }

  #ask({ fence, sid }: Seat, request: RelayedRequest, { body, ...context }: AskContext): void {
    const { officeId, event } = request;
    const text = this.#write(fence, request, [event, body]);
    const id = ++this.#lastId;
    const pending = this.#await(request, { id, fence, sid, ...context });
    pending.count(text.length);
    const message = writeMessage({ ...request, kind: "ask", id, from: this.#context.fence(), sid }, text);
    this.#flows.send(fence, message, { officeId, key: pending }).then((receivers) => {
      if (receivers === 0) this.onLost(fence);
    }, (error) => {
      this.#flows.end(fence);
      pending.fail(outOfReach(`relay "${quoted(event)}"`, error));
    });
  }

  /** A separate method, so that its closure does not keep the body in memory. */
  #await(request: RelayedRequest, { id, fence, sid, requester, onSettled }: Omit<AskContext, "body"> & {
    readonly id: number;
    readonly fence: string;
    readonly sid: string;
  }): PendingRequest {
    const { officeId } = request;
    const pending: PendingRequest = new PendingRequest({
      request,
      sides: [toSide(this.#outgoing, id, fence), requester],
      context: this.#context,
      onSettled: (settlement) => {
        // A request that waits is not sent any more.
        const wasSent = settlement.kind === "answered" ||
          !this.#flows.cancel(fence, { officeId, key: pending });
        if (settlement.kind === "dropped" && wasSent) {
          this.#send(fence, officeId, { kind: "drop", id, from: this.#context.fence(), sid });
        }
        onSettled(settlement);
      },
    });
    return pending;
  }

  /**
   * Writes arguments for a process. Throws a 413 when too much waits for it, before it copies up to the largest message, and
   * a 400 for arguments that are nested too deep.
   */
  #write(fence: string, routed: Routed, values: readonly unknown[]): string {
    // The size of attachments is not known yet.
    this.#flows.requireRoom(fence, routed, rawArgumentsOf(values)?.length ?? Infinity);
    try {
      return writeArguments(values);
    } catch (error) {
      throw error instanceof RangeError ? nestedTooDeep(routed.event) : error;
    }
  }

  /** Sends a message whose loss has no effect beyond itself. */
  #send(fence: string, officeId: string, message: ProcessMessage, text?: string): void {
    this.#logFailure(this.#flows.send(fence, writeMessage(message, text), { officeId }));
  }

  /** Sends a short message at once, before those that wait. */
  #sendAhead(fence: string, message: ProcessMessage): void {
    this.#logFailure(this.#context.publish(fence, writeMessage(message)));
  }

  #logFailure(sending: Promise<number>): void {
    sending.catch((error) => {
      const fields = { error: describeError(error) };
      this.#context.logger.debug("failed to send a message to another process", fields);
    });
  }

  #confirm(message: ProcessMessage, whole: string): void {
    if (message.kind === "evict" || message.kind === "evicted" || message.kind === "received") return;
    const { from } = message;
    const bytes = this.#flows.onReceived(from, whole);
    if (bytes === undefined) return;
    this.#sendAhead(from, { kind: "received", from: this.#context.fence(), bytes });
  }

  #handle(message: ProcessMessage, text: string): void {
    switch (message.kind) {
      case "ask":
      case "tell":
      case "drop":
        return this.#pass(message, text);
      case "answer":
        return this.#outgoing.get(message.id)?.pending.ack(...readAnswer(text, message.errorCode));
      case "fail":
        return this.#outgoing.get(message.id)?.pending.fail(toError(message));
      case "evict":
        this.#context.evict(message.sid);
        return this.#sendAhead(message.from, { kind: "evicted", id: message.id });
      case "evicted":
        return this.#evictions.get(message.id)?.();
      case "received":
        return this.#flows.onConfirmed(message.from, message.bytes);
    }
  }

  /**
   * Passes a message on to its Computer, behind those before it. The connection may still be joining: the request can arrive
   * before the reply to its join.
   */
  #pass(message: MessageOf<"ask" | "tell" | "drop">, text: string): void {
    const held = this.#context.connection(message.sid)?.held;
    const pass = () => this.#passNow(message, text);
    if (held === undefined) pass();
    else if (message.kind === "drop") held.after(pass);
    else if (!held.hold(text.length, pass)) this.#onRefused(message, noMemory(text.length));
  }

  /** Never throws. */
  #passNow(message: MessageOf<"ask" | "tell" | "drop">, text: string): void {
    try {
      if (message.kind === "ask") this.#askHere(message, text);
      else if (message.kind === "drop") this.#incoming.get(keyOf(message))?.pending.drop();
      else this.#memberOf(message)?.tell(message.event, readBody(text));
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
    const { log } = this.#context.connection(message.sid) ?? {};
    log?.write("warn", "failed to pass on an event of another process", fields);
  }

  #memberOf({ sid, officeId }: MessageOf<"ask" | "tell">): Connection | undefined {
    const connection = this.#context.connection(sid);
    return connection?.member?.officeId === officeId && this.#context.isServing(sid) ? connection : undefined;
  }

  #askHere(message: MessageOf<"ask">, text: string): void {
    const { officeId, computer, isObserving } = message;
    const { loadLimits, officeLoads, observerLoads, drain } = this.#context;
    if (drain.refusal !== undefined) throw drain.refusal;
    const connection = this.#memberOf(message);
    // The Computer may have come back under another name.
    if (connection === undefined || connection.member?.name !== computer) throw computerNotFound(computer);
    connection.targetLoad.requireCapacity(`Computer '${computer}'`, loadLimits.target);
    officeLoads.get(officeId).requireCapacity("this office", loadLimits.office);
    if (isObserving) {
      observerLoads.get(officeId).requireCapacity("the observers of this office", loadLimits.observers);
    }
    const requester = toSide(this.#incoming, keyOf(message), message.from);
    const onSettled = (settlement: Settlement) => this.#answer(message, settlement);
    connection.ask(message, { body: readBody(text), requester, onSettled });
  }

  #answer(message: MessageOf<"ask">, settlement: Settlement): void {
    const { id, from, sid, computer, officeId } = message;
    if (settlement.kind === "dropped") return;
    const reply = { id, from: this.#context.fence() };
    const fail = (error: unknown) => this.#send(from, officeId, toFailure(reply, error));
    if (settlement.kind === "failed") return fail(settlement.error);
    if (!this.#context.isServing(sid)) return fail(computerNotFound(computer));
    try {
      const errorCode = errorCodeOf(settlement.answer);
      const text = this.#write(from, message, settlement.answer);
      this.#send(from, officeId, { ...reply, kind: "answer", errorCode }, text);
    } catch (error) {
      fail(error);
    }
  }
}

/** The side of a request that another process has: this one keeps the request until it ends. */
function toSide<K>(requests: Map<K, Travelling>, key: K, fence: string): Side {
  return {
    load: new Load(),
    add: (pending) => void requests.set(key, { pending, fence }),
    remove: () => void requests.delete(key),
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

function keyOf({ from, id }: MessageOf<"ask" | "drop">): string {
  return `${from} ${id}`;
}
