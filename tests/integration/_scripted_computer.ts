/** A Computer that is nothing but a Socket.IO client: it answers what a test tells it to, or does not. */
import { io, type Socket } from "socket.io-client";
import { isRecord } from "../../src/json/json.ts";
import { within } from "../fixtures/within.ts";

/** Answers a request, also later, by a promise; `undefined` leaves it unanswered, {@linkcode NOTHING} acks without arguments. */
export type Answer = (body: Record<string, unknown>) => unknown;

/** An ack that carries nothing. */
export const NOTHING = Symbol("nothing");

export class ScriptedComputer implements Disposable {
  /** What was asked, in order. */
  readonly requests: { readonly event: string; readonly body: Record<string, unknown> }[] = [];
  /** By event. */
  readonly answers: Record<string, Answer>;
  readonly #socket: Socket;
  readonly #waiting = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();

  private constructor(socket: Socket, answers: Record<string, Answer>) {
    this.#socket = socket;
    this.answers = answers;
    socket.onAny((event: string, body: unknown, ack: unknown) => {
      const request = isRecord(body) ? body : {};
      this.requests.push({ event, body: request });
      this.#waiting.get(event)?.resolve(request);
      this.#waiting.delete(event);
      const answer = this.answers[event]?.(request);
      if (typeof ack !== "function" || answer === undefined) return;
      if (answer instanceof Promise) void answer.then((late) => ack(late));
      else if (answer === NOTHING) ack();
      else ack(answer);
    });
  }

  /** Connects over the websocket alone and joins. */
  static async join(
    url: string,
    options: {
      readonly office?: string;
      readonly name?: string;
      readonly answers?: Record<string, Answer>;
      readonly version?: string;
    } = {},
  ): Promise<ScriptedComputer> {
    const { office = "lab", name = "laptop", answers = {}, version = "0.2.0" } = options;
    const socket = io(`${url}/smcp`, {
      transports: ["websocket"],
      query: { a2c_version: version },
      reconnection: false,
      forceNew: true,
    });
    const computer = new ScriptedComputer(socket, answers);
    await computer.send("server:join_office", { role: "computer", name, office_id: office });
    return computer;
  }

  /** Sends an event and waits for its ack. */
  async send(event: string, body: unknown): Promise<unknown> {
    return await this.#socket.timeout(10_000).emitWithAck(event, body);
  }

  /** The body of the next such event. */
  next(event: string): Promise<Record<string, unknown>> {
    const waiting = this.#waiting.get(event) ?? Promise.withResolvers();
    this.#waiting.set(event, waiting);
    return within(waiting.promise, `the Server to pass on "${event}"`);
  }

  /** The body of the last such request. */
  lastBody(event: string): Record<string, unknown> {
    const last = this.requests.findLast((request) => request.event === event);
    if (last === undefined) throw new TypeError(`Nobody asked "${event}"`);
    return last.body;
  }

  /** Disconnects. */
  close(): void {
    this.#socket.disconnect();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** An MCP result of one text. */
export function textResult(text: string): Record<string, unknown> {
  return { content: [{ type: "text", text }], isError: false };
}

/** The answer to a read: one text. */
export function contents(uri: unknown, text: string, mimeType = "application/json"): Record<string, unknown> {
  return { contents: [{ uri, mimeType, text }] };
}
