/** The transport of one client of 2025 over HTTP: an answer to each POST, and one stream of events for all else. */
import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { abortable, onAbort } from "../../async/abortable.ts";
import { type RequestId, RpcErrorCode, SESSION_VERSIONS } from "../../protocol/mcp.ts";
import { quoted } from "../../text/text.ts";
import type { AskedHeaders } from "../headers.ts";
import { type AcceptedForms, EventStream, wholeAnswer } from "./answers.ts";
import { httpError } from "./http_error.ts";
import type { AdmittedRequest } from "./json_body.ts";

export const SESSION_HEADER = "mcp-session-id";

const MAX_BATCH = 100;
const NO_SESSION = -32001;
const ENDED = "it was cancelled, or its session or what the client may do has ended; a tool may have run";

export class SessionTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Set as soon as the client has sent `initialize`. */
  sessionId?: string;
  readonly #id: string;
  /** By the id of a request that has no answer yet. */
  readonly #exchanges = new Map<RequestId, Exchange>();
  /** What the client listens to besides. */
  #events: EventStream | undefined;
  #isClosed = false;

  constructor(id: string) {
    this.#id = id;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
    const isAnswer = !("method" in message);
    const id = isAnswer ? message.id : relatedRequestId;
    const text = JSON.stringify(message);
    if (id === undefined) this.#events?.write(text);
    else this.#exchanges.get(id)?.tell(text, { isAnswer });
    if (isAnswer && id !== undefined) this.#exchanges.delete(id);
    return Promise.resolve();
  }

  async handle(asked: AdmittedRequest): Promise<Response> {
    const { request: { method, headers }, body, forms } = asked;
    const messages = method === "POST" ? readMessages(body) : [];
    if (messages instanceof Response) return messages;
    const refusal = this.#refuse(messages, { headers, forms });
    if (refusal !== undefined) return refusal;
    if (method === "DELETE") {
      await this.close();
      return new Response(null);
    }
    if (forms === undefined) return httpError(406, "Not acceptable: a client takes JSON or events");
    const answer = method === "GET" ? this.#listen() : await this.#post(messages, { ...asked, forms });
    if (this.sessionId !== undefined) answer.headers.set(SESSION_HEADER, this.sessionId);
    return answer;
  }

  /** Tells clients that wait for long that they are still served. */
  beat(): void {
    this.#events?.beat();
    for (const exchange of new Set(this.#exchanges.values())) exchange.beat();
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#events?.close();
    for (const exchange of this.#exchanges.values()) exchange.end();
    this.#exchanges.clear();
    this.onclose?.();
    return Promise.resolve();
  }

  #refuse(
    messages: readonly JSONRPCMessage[],
    { headers, forms }: { readonly headers: AskedHeaders; readonly forms: AcceptedForms | undefined },
  ): Response | undefined {
    if (this.#isClosed) return httpError(404, "Session not found", { code: NO_SESSION });
    if (
      messages.some((message) =>
        "method" in message && message.method === "initialize" && isInitializeRequest(message)
      )
    ) {
      const isFirst = this.sessionId === undefined && messages.length === 1;
      if (isFirst && forms !== undefined) this.sessionId = this.#id;
      return isFirst ? undefined : httpError(400, "Invalid request: one initialize begins a session", {
        code: RpcErrorCode.INVALID_REQUEST,
      });
    }
    if (this.sessionId === undefined) {
      return httpError(400, "Bad request: the client has not sent initialize");
    }
    const version = headers.get("mcp-protocol-version");
    if (version === null || SESSION_VERSIONS.includes(version)) return undefined;
    const supported = SESSION_VERSIONS.join(", ");
    return httpError(400, `Unsupported protocol version "${quoted(version)}" (supported: ${supported})`);
  }

  #listen(): Response {
    if (this.#events?.isOpen) return httpError(409, "Conflict: this session has a stream of events already");
    this.#events = new EventStream();
    return this.#events.response;
  }

  /** The server gives no answer to a request that was cancelled, and its POST has to end. */
  #endCancelled(message: JSONRPCMessage): void {
    const id = cancelledBy(message);
    if (id === undefined) return;
    this.#exchanges.get(id)?.cancel();
    this.#exchanges.delete(id);
  }

  /** As the client does, which may not go on. */
  #cancel(ids: readonly RequestId[]): void {
    for (const requestId of ids) {
      const message = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } } as const;
      this.onmessage?.(message);
      this.#endCancelled(message);
    }
  }

  async #post(
    messages: readonly JSONRPCMessage[],
    { request: { signal: gone }, forms, until, ending }: AdmittedRequest & { readonly forms: AcceptedForms },
  ): Promise<Response> {
    const ids = messages.flatMap((message) => "method" in message && "id" in message ? [message.id] : []);
    if (new Set(ids).size < ids.length || ids.some((id) => this.#exchanges.has(id))) {
      return httpError(400, "Invalid request: its id is that of another request that has no answer yet", {
        code: RpcErrorCode.INVALID_REQUEST,
      });
    }
    const exchange = new Exchange(ids.length, forms);
    for (const id of ids) this.#exchanges.set(id, exchange);
    for (const message of messages) {
      this.onmessage?.(message);
      this.#endCancelled(message);
    }
    if (ids.length === 0) return new Response(null, { status: 202 });
    const cut = onAbort(until, () => this.#cancel(ids.filter((id) => this.#exchanges.get(id) === exchange)));
    ending.defer(() => cut[Symbol.dispose]());
    return await abortable(exchange.answer, gone).catch(() => {
      for (const id of ids) this.#exchanges.delete(id);
      return exchange.end();
    });
  }
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  const isCancel = "method" in message && message.method === "notifications/cancelled";
  const id = isCancel ? message.params?.["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function readMessages(body: unknown): readonly JSONRPCMessage[] | Response {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (messages.length > MAX_BATCH) {
    return httpError(400, `Invalid request: a batch has at most ${MAX_BATCH} messages`, {
      code: RpcErrorCode.INVALID_REQUEST,
    });
  }
  if (messages.every(isMessage)) return messages;
  return httpError(400, "Parse error: this is no message of JSON-RPC", { code: RpcErrorCode.PARSE_ERROR });
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

/** The answers to the requests of one POST: JSON when they are there as a whole, events when something comes before. */
class Exchange {
  readonly #forms: AcceptedForms;
  readonly #answer = Promise.withResolvers<Response>();
  /** Those of a client that takes no events. */
  readonly #answers: string[] = [];
  #left: number;
  #beats = 0;
  #stream: EventStream | undefined;

  constructor(requests: number, forms: AcceptedForms) {
    this.#left = requests;
    this.#forms = forms;
  }

  get answer(): Promise<Response> {
    return this.#answer.promise;
  }

  tell(text: string, { isAnswer }: { readonly isAnswer: boolean }): void {
    if (isAnswer) this.#left--;
    const { json, events } = this.#forms;
    const isWhole = this.#left === 0;
    if (this.#stream !== undefined || !json || (events && !isWhole)) this.#begin().write(text);
    else if (isAnswer) this.#answers.push(text);
    if (isWhole) this.#finish();
  }

  /** One of its requests gets no answer. */
  cancel(): void {
    if (--this.#left === 0) this.#finish();
  }

  #finish(): void {
    const [first, ...others] = this.#answers;
    if (this.#stream !== undefined) this.#stream.close();
    else if (first === undefined) this.end();
    else this.#answer.resolve(wholeAnswer(others.length === 0 ? first : `[${this.#answers.join(",")}]`));
  }

  /** The answer begins only at the second time: most are whole before. */
  beat(): void {
    if (this.#forms.events && ++this.#beats > 1) this.#begin().beat();
  }

  /** Ends an answer that nobody waits for, or that cannot come any more. */
  end(): Response {
    if (!this.#forms.events && this.#stream === undefined) {
      const ended = httpError(404, `Cannot answer this request: ${ENDED}`, { code: NO_SESSION });
      this.#answer.resolve(ended);
      return ended;
    }
    const stream = this.#begin();
    stream.close();
    return stream.response;
  }

  #begin(): EventStream {
    this.#stream ??= new EventStream();
    this.#answer.resolve(this.#stream.response);
    return this.#stream;
  }
}
