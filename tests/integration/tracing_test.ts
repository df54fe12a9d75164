import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { z } from "zod";
import { type Door, startDoor } from "../fixtures/door.ts";
import { eventually, within } from "../fixtures/within.ts";

const TRACED_SERVER = fromFileUrl(new URL("../fixtures/traced_mcp_server.ts", import.meta.url));

/** The part of an OTLP request that is of interest. */
const traces = z.object({
  resourceSpans: z.array(z.object({
    resource: z.object({
      attributes: z.array(
        z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) }),
      ),
    }),
    scopeSpans: z.array(z.object({
      scope: z.object({ name: z.string() }),
      spans: z.array(z.object({
        traceId: z.string(),
        spanId: z.string(),
        parentSpanId: z.string(),
        name: z.string(),
        attributes: z.array(
          z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) }),
        ),
      })),
    })),
  })),
});

interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

/** A collector of OpenTelemetry over HTTP that keeps the spans of our tracers. */
class Collector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  readonly #http: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
      const body: unknown = await request.json();
      if (new URL(request.url).pathname === "/v1/traces") this.#read(body);
      return Response.json({});
    });
  }

  /** The environment of a traced program. */
  env(service: string): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#http.addr.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_SERVICE_NAME: service,
      OTEL_BSP_SCHEDULE_DELAY: "50",
      OTEL_DENO_CONSOLE: "ignore",
    };
  }

  /** Waits for a span of a service; of a relay, for the one of this event. */
  async find(service: string, name: string, event?: string): Promise<CollectedSpan> {
    const isMeant = (span: CollectedSpan) =>
      span.service === service && span.name === name &&
      (event === undefined || span.attributes["a2c.event"] === event);
    const find = () => this.spans.find(isMeant);
    const found = await eventually(find, (span) => span !== undefined, `the span "${name}" of ${service}`);
    assert(found !== undefined);
    return found;
  }

  #read(body: unknown): void {
    for (const { resource, scopeSpans } of traces.parse(body).resourceSpans) {
      const { "service.name": service = "" } = toRecord(resource.attributes);
      for (const { scope, spans } of scopeSpans) {
        if (!["a2c-smcp", "traced-mcp-server"].includes(scope.name)) continue;
        this.spans.push(
          ...spans.map((span) => ({ ...span, service, attributes: toRecord(span.attributes) })),
        );
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http.shutdown();
  }
}

function toRecord(
  attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string | undefined };
  }[],
): Record<string, string | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}

/** What the MCP server is made with. */
type Kind = "sdk" | "kit";

/** The configuration of a Computer whose MCP server has this environment. */
async function writeConfig(kind: Kind, env: Readonly<Record<string, string>>): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  const args = ["run", "-A", "--no-check", "--quiet", TRACED_SERVER, kind];
  const parameters = { command: Deno.execPath(), args, env };
  const traced = {
    type: "stdio",
    default_tool_meta: { auto_apply: true },
    server_parameters: parameters,
  };
  await Deno.writeTextFile(path, JSON.stringify({ servers: { traced } }));
  return path;
}

/** Calls the tool by the three programs, and resolves to the `_meta` that the MCP server got. */
async function call(
  kind: Kind,
  envOf: (service: string) => Record<string, string>,
): Promise<Record<string, unknown>> {
  const start = (door: Door, args: readonly string[], service: string) =>
    startDoor(door, args, { env: envOf(service) });
  await using server = start("server.ts", ["--port", "0"], "server");
  const url = await server.listening();
  const member = ["--url", url, "--office", "lab"];
  const config = await writeConfig(kind, envOf("mcp-server"));
  try {
    await using computer = start(
      "computer.ts",
      ["--config", config, ...member, "--name", "laptop", "--start-timeout", "60"],
      "computer",
    );
    await computer.said("joined office");
    await using agent = start("agent.ts", ["call", "echo", "--json", ...member, "--name", "ada"], "agent");
    const { code, stdout, stderr } = await within(agent.end(), "the end of the call");
    assertEquals(code, 0, stderr);
    const { content: [item] } = z.object({ content: z.array(z.object({ text: z.string() })) }).parse(
      JSON.parse(stdout),
    );
    return z.record(z.string(), z.unknown()).parse(JSON.parse(item?.text ?? ""));
  } finally {
    await Deno.remove(config);
  }
}

Deno.test("one trace joins the Agent, the Server, the Computer and the MCP server of a tool call", async () => {
  await using collector = new Collector();
  const meta = await call("sdk", (service) => collector.env(service));
  const agent = await collector.find("agent", "client:tool_call");
  const relay = await collector.find("server", "relay", "client:tool_call");
  const computer = await collector.find("computer", "client:tool_call");
  const request = await collector.find("computer", "tools/call");
  const mcp = await collector.find("mcp-server", "mcp echo");
  const spans = { relay, computer, request, mcp };
  for (const [name, { traceId }] of Object.entries(spans)) assertEquals(traceId, agent.traceId, name);
  const parents = Object.entries(spans).map(([name, { parentSpanId }]) => [name, parentSpanId]);
  assertEquals(Object.fromEntries(parents), {
    relay: agent.spanId,
    computer: agent.spanId,
    request: computer.spanId,
    mcp: request.spanId,
  });
  assertEquals([relay.attributes["a2c.outcome"], relay.attributes["a2c.office"]], ["answered", "lab"]);
  assertEquals(request.attributes["a2c.mcp_server"], "traced");
  assertEquals(meta["traceparent"], `00-${mcp.traceId}-${request.spanId}-01`);
});

Deno.test("spans that an MCP server of the provider kit makes for a request are part of its trace", async () => {
  await using collector = new Collector();
  await call("kit", (service) => collector.env(service));
  const request = await collector.find("computer", "tools/call");
  const mcp = await collector.find("mcp-server", "mcp echo");
  assertEquals([mcp.traceId, mcp.parentSpanId], [request.traceId, request.spanId]);
});

Deno.test("without OpenTelemetry an MCP server gets no trace", async () => {
  assertEquals("traceparent" in await call("sdk", () => ({})), false);
});
