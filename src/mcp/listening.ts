/** The stream on which a server of 2026-07-28 tells what has changed: `subscriptions/listen`. */
import { LISTEN_METHOD, type RequestId, RpcErrorCode } from "../protocol/mcp.ts";
import { abortable } from "../async/abortable.ts";
import { Backoff, type BackoffOptions, delay } from "../async/backoff.ts";
import { Deadline } from "../async/deadline.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import type { RequestLimits } from "./call_options.ts";
import { ServerAnswerError, ServerNotRunningError, ServerTimeoutError } from "./errors.ts";
import type { RpcNotification } from "./json_rpc.ts";
import { MIN_STREAM_INTERVAL_MS } from "./limits.ts";
import type { RpcPeer } from "./rpc_peer.ts";

/** Waits between two attempts to open a stream that was refused or has ended. */
const REOPEN_BACKOFF: BackoffOptions = { firstMs: 500, maxMs: 60_000 };
/** A stream that lasted longer than this begins the waits anew when it ends, in milliseconds. */
const STABLE_MS = 60_000;
/** How long a server may take to acknowledge a stream, in milliseconds. */
const ACKNOWLEDGE_TIMEOUT_MS = 10_000;
/** The most resources of one stream. A further one is read for each request. */
const MAX_LISTENED_URIS = 10_000;

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

export interface ListenedLists {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
}

export interface ListeningContext {
  readonly peer: Pick<RpcPeer, "open">;
  readonly lists: ListenedLists;
  readonly log: Logger;
  /** A stream was opened after a while without one: changes in between were not told. */
  readonly onReopened: () => void;
}

interface Stream {
  readonly id: RequestId;
  readonly cancel: AbortController;
  /** Settled by the acknowledgement, with the resources whose changes are told; rejected when the stream ends before. */
  readonly acknowledged: PromiseWithResolvers<ReadonlySet<string>>;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<unknown>;
}

/**
 * Keeps one stream open while there is anything to listen to. A wider choice of resources opens another stream, and the
 * former one ends when that is acknowledged, so that nothing is missed. A stream that ends is opened again after a wait.
 */
export class Listening {
  readonly #context: ListeningContext;
  readonly #over = new AbortController();
  readonly #wanted = new Set<string>();
  #told: ReadonlySet<string> = new Set();
  /** Resolved when resources are told or wanted no longer, with the reason for those that are not. */
  #changed = Promise.withResolvers<ServerAnswerError>();
  #opening: Stream | undefined;
  #current: Stream | undefined;
  /** Whether there has been no stream for a while, so that changes were not told. */
  #hasMissed = false;
  /** Resolved when more is wanted than the last stream asked for. */
  #more = Promise.withResolvers<void>();
  readonly #first = Promise.withResolvers<void>();

  constructor(context: ListeningContext) {
    this.#context = context;
    this.#run().catch((error) => {
      if (!this.#over.signal.aborted) context.log.warn("cannot listen", { error: describeError(error) });
    });
  }

  /** Resolves when the first stream was acknowledged or refused, or when there is nothing to listen to. */
  get begun(): Promise<void> {
    return this.#first.promise;
  }

  /**
   * Listens to the changes of a resource.
   *
   * @throws {ServerAnswerError} when the server does not tell them.
   */
  async subscribe(uri: string, { timeoutMs, signal }: RequestLimits): Promise<void> {
    if (!this.#wanted.has(uri) && this.#wanted.size >= MAX_LISTENED_URIS) {
      throw new ServerAnswerError(
        RpcErrorCode.INVALID_PARAMS,
        `More than ${MAX_LISTENED_URIS} subscriptions`,
      );
    }
    this.#wanted.add(uri);
    if (!this.#told.has(uri)) this.#more.resolve();
    const over = this.#over.signal;
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError('Cannot complete "subscriptions/listen": no answer in time'),
      signal: signal === undefined ? over : AbortSignal.any([signal, over]),
    });
    while (!this.#told.has(uri)) {
      const refusal = await abortable(this.#changed.promise, deadline.signal);
      if (!this.#wanted.has(uri)) throw refusal;
    }
  }

  /** Listens no longer to a resource, from the next stream on; who still waits for it is refused. */
  unsubscribe(uri: string): void {
    this.#drop([uri], new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, "The subscription has ended"));
  }

  /** Takes the acknowledgement of a stream; returns whether the notification was one. */
  hear({ method, params = {} }: RpcNotification): boolean {
    if (method !== ACKNOWLEDGED) return false;
    const { _meta: meta, notifications } = params;
    const id = isRecord(meta) ? meta[SUBSCRIPTION_ID] : undefined;
    const stream = this.#opening;
    if (stream === undefined || id !== stream.id) return true;
    const uris = isRecord(notifications) ? notifications["resourceSubscriptions"] : undefined;
    const told = Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
    stream.acknowledged.resolve(new Set(told));
    return true;
  }

  close(): void {
    const reason = new ServerNotRunningError({ reason: "closed" });
    this.#over.abort(reason);
    for (const stream of [this.#opening, this.#current]) stream?.cancel.abort(reason);
    this.#first.resolve();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    const backoff = new Backoff(REOPEN_BACKOFF);
    while (!signal.aborted) {
      if (!this.#hasWishes) {
        this.#first.resolve();
        await abortable(this.#more.promise, signal);
      }
      const openedAtMs = performance.now();
      const stream = await this.#replace(backoff);
      if (stream === undefined) continue;
      const hasEnded = await abortable(
        Promise.race([stream.ended.then(() => true), this.#more.promise.then(() => false)]),
        signal,
      );
      if (!hasEnded) {
        await delay(MIN_STREAM_INTERVAL_MS, signal);
        continue;
      }
      this.#lose(stream);
      if (performance.now() - openedAtMs > STABLE_MS) backoff.reset();
      this.#context.log.debug("the stream of changes has ended: opening another one");
      await delay(backoff.next(), signal);
    }
  }

  get #hasWishes(): boolean {
    return this.#wanted.size > 0 || Object.keys(this.#context.lists).length > 0;
  }

  /** Opens a stream in the place of the current one; waits after a failure, and resolves to `undefined` then. */
  async #replace(backoff: Backoff): Promise<Stream | undefined> {
    this.#more = Promise.withResolvers();
    const uris = [...this.#wanted];
    try {
      const stream = await this.#open(uris);
      this.#current?.cancel.abort(new ServerNotRunningError({ reason: "replaced" }));
      this.#current = stream;
      if (this.#hasMissed) this.#context.onReopened();
      this.#hasMissed = false;
      this.#first.resolve();
      return stream;
    } catch (error) {
      if (this.#current === undefined) this.#hasMissed = true;
      this.#first.resolve();
      await this.#waitAfter(error, { uris, backoff });
      return undefined;
    }
  }

  /** A stream may also end while another one is being opened in its place. */
  #lose(stream: Stream): void {
    if (this.#current !== stream) return;
    this.#current = undefined;
    this.#told = new Set();
    this.#hasMissed = true;
  }

  async #waitAfter(
    error: unknown,
    { uris, backoff }: { readonly uris: readonly string[]; readonly backoff: Backoff },
  ): Promise<void> {
    const { signal } = this.#over;
    signal.throwIfAborted();
    this.#context.log.debug("cannot open the stream of changes", { error: describeError(error) });
    if (!(error instanceof ServerAnswerError)) return await delay(backoff.next(), signal);
    // An answer is final for those who wait; without one, the next attempt may succeed in time.
    this.#drop(uris.filter((uri) => !this.#told.has(uri)), error);
    const isUnknown = error.rpcCode === RpcErrorCode.METHOD_NOT_FOUND;
    await (isUnknown ? abortable(this.#more.promise, signal) : delay(backoff.next(), signal));
  }

  async #open(uris: readonly string[]): Promise<Stream> {
    const { peer, lists } = this.#context;
    const notifications = { ...lists, ...(uris.length > 0 && { resourceSubscriptions: uris }) };
    const cancel = new AbortController();
    const acknowledged = Promise.withResolvers<ReadonlySet<string>>();
    const { id, result } = peer.open(
      { method: LISTEN_METHOD, params: { notifications } },
      { timeoutMs: Infinity, signal: cancel.signal },
    );
    const ended = result.then(
      () => new ServerNotRunningError({ reason: "event stream ended" }),
      (error) => error,
    )
      .then((reason: unknown) => {
        this.#lose(stream);
        acknowledged.reject(reason);
      });
    const stream: Stream = { id, cancel, acknowledged, ended };
    this.#opening = stream;
    using deadline = new Deadline(ACKNOWLEDGE_TIMEOUT_MS, {
      reason: () => new ServerTimeoutError("Cannot listen to changes: no acknowledgement in time"),
      signal: this.#over.signal,
    });
    try {
      this.#settle(uris, await abortable(acknowledged.promise, deadline.signal));
      return stream;
    } catch (error) {
      cancel.abort(error);
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  /** Those who wait learn whether the changes of these resources are told. */
  #settle(uris: readonly string[], told: ReadonlySet<string>): void {
    this.#told = told;
    const message = "The server does not tell changes of this resource";
    this.#drop(
      uris.filter((uri) => !told.has(uri)),
      new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, message),
    );
  }

  /** These resources are wanted no longer: they must not cost the others a further stream. */
  #drop(uris: readonly string[], refusal: ServerAnswerError): void {
    for (const uri of uris) this.#wanted.delete(uri);
    this.#changed.resolve(refusal);
    this.#changed = Promise.withResolvers();
  }
}

/** The lists whose changes a server can tell. */
export function listenedLists(
  { tools, prompts, resources }: Readonly<Record<string, unknown>>,
): ListenedLists {
  const tells = (capability: unknown) => isRecord(capability) && capability["listChanged"] === true;
  return {
    ...(tells(tools) && { toolsListChanged: true }),
    ...(tells(prompts) && { promptsListChanged: true }),
    ...(tells(resources) && { resourcesListChanged: true }),
  };
}
