/**
 * Traces by OpenTelemetry. A program has them when an OpenTelemetry SDK is registered in its process: in Deno with
 * `OTEL_DENO=true`. Without one, nothing here costs anything, and the library is not loaded.
 *
 * The id of a request carries the trace: a traced Agent uses a W3C `traceparent` as `req_id`. So the trace passes through
 * every Server unchanged, and no message has another shape than without it.
 */
import type { Attributes, Context, Span, SpanContext, Tracer } from "@opentelemetry/api";
import { isRecord } from "./json/json.ts";
import { PACKAGE_VERSION } from "./version.ts";

/** The name of the tracer. */
const TRACER = "a2c-smcp";
/** The global in which an SDK registers itself for version 1 of the OpenTelemetry API. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");
/** A `traceparent` of version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

type Api = typeof import("@opentelemetry/api");

let tracing: Tracing | undefined;

/** Loads the OpenTelemetry API if an SDK is registered in this process. Call it before the first request. */
export async function loadTracing(): Promise<void> {
  if (tracing !== undefined || !hasSdk()) return;
  const api = await import("@opentelemetry/api");
  tracing ??= new Tracing(api);
}

function hasSdk(): boolean {
  const registry: unknown = Reflect.get(globalThis, REGISTRY);
  return typeof registry === "object" && registry !== null && "trace" in registry;
}

/** A span that ends later. */
export interface OpenSpan {
  /** Ends it. `error` is the code of an error, or its name. */
  end(outcome: { readonly error?: number | string | undefined; readonly attributes?: Attributes }): void;
}

/**
 * Makes a request under a new id. When traced, it has a span, and the id is the `traceparent` of that span.
 *
 * @param name The name of the span.
 * @param run Makes the request.
 */
export function makeRequest<T>(
  name: string,
  attributes: Attributes,
  run: (reqId: string) => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return run(crypto.randomUUID());
  return tracing.makeRequest(name, attributes, run);
}

/** Handles a request. When traced, it has a span in the trace of its id, if that carries one. */
export function handleRequest<T>(
  name: string,
  { reqId, attributes }: { readonly reqId: string | undefined; readonly attributes: Attributes },
  run: () => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return run();
  return tracing.handleRequest(name, { reqId, attributes }, run);
}

/** Starts the span of a request that is relayed; `undefined` without tracing. */
export function startRelay(name: string, reqId: string | undefined): OpenSpan | undefined {
  return tracing?.startRelay(name, reqId);
}

/**
 * Makes a request to an MCP server. When traced, it has a span, and `meta` is what to add to `_meta` of its parameters.
 * Requests outside of any trace, such as those at the start of an MCP server, have none.
 */
export function makeMcpRequest<T>(
  method: string,
  attributes: Attributes,
  run: (meta: Readonly<Record<string, string>> | undefined) => Promise<T>,
): Promise<T> {
  if (tracing === undefined || !tracing.isActive) return run(undefined);
  return tracing.makeMcpRequest(method, attributes, run);
}

/**
 * Runs a function in the trace that `_meta` of a request carries, so that spans made in it belong to that trace. Without
 * tracing, it only runs it.
 */
export function continueTrace<T>(meta: unknown, run: () => T): T {
  if (tracing === undefined || !isRecord(meta)) return run();
  return tracing.continueTrace(meta, run);
}

class Tracing {
  readonly #api: Api;
  readonly #tracer: Tracer;

  constructor(api: Api) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(TRACER, PACKAGE_VERSION);
  }

  /** Whether the caller works for a span. */
  get isActive(): boolean {
    return this.#api.trace.getActiveSpan() !== undefined;
  }

  makeRequest<T>(name: string, attributes: Attributes, run: (reqId: string) => Promise<T>): Promise<T> {
    const span = this.#tracer.startSpan(name, { kind: this.#api.SpanKind.CLIENT, attributes });
    const context = span.spanContext();
    const reqId = this.#api.isSpanContextValid(context) ? toTraceparent(context) : crypto.randomUUID();
    return this.#runIn(span, () => run(reqId));
  }

  handleRequest<T>(
    name: string,
    { reqId, attributes }: { readonly reqId: string | undefined; readonly attributes: Attributes },
    run: () => Promise<T>,
  ): Promise<T> {
    const options = { kind: this.#api.SpanKind.SERVER, attributes };
    return this.#runIn(this.#tracer.startSpan(name, options, this.#contextOf(reqId)), run);
  }

  startRelay(name: string, reqId: string | undefined): OpenSpan {
    const options = { kind: this.#api.SpanKind.SERVER };
    const span = this.#tracer.startSpan(name, options, this.#contextOf(reqId));
    return {
      end: ({ error, attributes = {} }) => {
        span.setAttributes(attributes);
        if (error !== undefined) this.#fail(span, error);
        span.end();
      },
    };
  }

  makeMcpRequest<T>(
    method: string,
    attributes: Attributes,
    run: (meta: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> {
    const { propagation, SpanKind, trace, context } = this.#api;
    const span = this.#tracer.startSpan(method, {
      kind: SpanKind.CLIENT,
      attributes: { ...attributes, "mcp.method.name": method },
    });
    const meta: Record<string, string> = {};
    propagation.inject(trace.setSpan(context.active(), span), meta);
    return this.#runIn(span, () => run({ ...meta }));
  }

  continueTrace<T>(meta: Readonly<Record<string, unknown>>, run: () => T): T {
    const { context, propagation } = this.#api;
    const { traceparent, tracestate } = meta;
    if (typeof traceparent !== "string") return run();
    const carrier = typeof tracestate === "string" ? { traceparent, tracestate } : { traceparent };
    return context.with(propagation.extract(context.active(), carrier), run);
  }

  /** The context of the remote span that an id names; a new trace for any other id. */
  #contextOf(reqId: string | undefined): Context {
    const { ROOT_CONTEXT, trace } = this.#api;
    const parent = reqId === undefined ? undefined : parseTraceparent(reqId);
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  }

  async #runIn<T>(span: Span, run: () => Promise<T>): Promise<T> {
    const { context, trace } = this.#api;
    try {
      return await context.with(trace.setSpan(context.active(), span), run);
    } catch (error) {
      this.#fail(span, errorType(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** The message of an error may hold what must not leave the process, so only its code or name is recorded. */
  #fail(span: Span, error: number | string): void {
    span.setAttribute("error.type", String(error));
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
  }
}

function errorType(error: unknown): number | string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "number" || typeof code === "string" ? code : error.name;
}

/** Builds the `traceparent` of a span. */
export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** Parses a `traceparent`; `undefined` for any other text, and for an id of zeros, which is invalid. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(text) ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}
