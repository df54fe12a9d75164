/** The metrics of a Server as a text for Prometheus. Imported only by a Server that counts. */
import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type Count, type Latencies, LATENCY_BOUNDS_S, type Tally } from "./tally.ts";

export interface Snapshot {
  /** Members by role: `agent`, `computer`, `observer`; `none` for connections outside of any office. */
  readonly connections: Readonly<Record<string, number>>;
  readonly otherConnections: number;
  readonly offices: number;
  readonly requestsInFlight: number;
  readonly bytesInFlight: number;
  /** Bytes of messages on their way: incomplete, or waiting for members that read slowly. */
  readonly messageBytes: number;
  readonly isReady: boolean;
  /** When the TLS certificate expires, in milliseconds since the epoch; `undefined` without TLS. */
  readonly certificateExpiresAtMs: number | undefined;
  /** Lines that are missing in the audit log; `undefined` without one. */
  readonly auditLinesLost: number | undefined;
}

export function createExposition(tally: Tally, takeSnapshot: () => Snapshot): () => Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  addCounters(tally, registers);
  new TalliedHistogram(tally, registers);
  const setGauges = createGauges(registers);
  addProcess(registers);
  return () => {
    setGauges(takeSnapshot());
    return registry.metrics();
  };
}

function addCounters(tally: Tally, registers: Registry[]): void {
  countFrom(() => tally.requests(), {
    name: "a2c_requests_total",
    help: "Events of members by name and outcome",
    labelNames: ["event", "outcome"],
    registers,
  });
  countFrom(() => tally.errors(), {
    name: "a2c_request_errors_total",
    help: "Events that the Server refused or could not complete, by the code of the error",
    labelNames: ["event", "code"],
    registers,
  });
  countFrom(() => tally.refusals(), {
    name: "a2c_refusals_total",
    help: "Connections and handshakes that the Server refused or ended, by reason",
    labelNames: ["reason"],
    registers,
  });
  countFrom(() => [
    { labels: { direction: "received" }, value: tally.bytes.received },
    { labels: { direction: "sent" }, value: tally.bytes.sent },
  ], {
    name: "a2c_bytes_total",
    help: "Bytes of the messages of members, without frames and headers",
    labelNames: ["direction"],
    registers,
  });
}

/** Adds a counter whose values are kept elsewhere. */
function countFrom<Label extends string>(
  counts: () => Iterable<Count<Label>>,
  configuration: {
    readonly name: string;
    readonly help: string;
    readonly labelNames: Label[];
    readonly registers: Registry[];
  },
): void {
  new Counter({
    ...configuration,
    collect() {
      this.reset();
      for (const { labels, value } of counts()) this.inc(labels, value);
    },
  });
}

const LATENCY = {
  name: "a2c_relay_duration_seconds",
  help: "Time from a relayed request to the answer of the Computer",
  labelNames: ["event"],
} as const;

/** A histogram whose observations are kept elsewhere. The one of the library counts its observations itself. */
class TalliedHistogram extends Gauge<"event"> {
  readonly #tally: Tally;
  /** Tells what a histogram is called in the text. */
  readonly #model = new Histogram({ ...LATENCY, registers: [] });

  constructor(tally: Tally, registers: Registry[]) {
    super({ ...LATENCY, registers });
    this.#tally = tally;
  }

  override async get() {
    const metric = await this.#model.get();
    const values = [...this.#tally.latencies()].flatMap((each) => seriesOf(metric.name, each));
    return { ...metric, values };
  }
}

function seriesOf(
  name: string,
  { event, buckets, sumSeconds }: Latencies,
) {
  let total = 0;
  const series = buckets.map((count, index) => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      labels: { event, le: LATENCY_BOUNDS_S[index] ?? "+Inf" },
      value: total,
    };
  });
  return [
    ...series,
    { metricName: `${name}_sum`, labels: { event }, value: sumSeconds },
    { metricName: `${name}_count`, labels: { event }, value: total },
  ];
}

function createGauges(registers: Registry[]): (snapshot: Snapshot) => void {
  const connections = new Gauge({
    name: "a2c_connections",
    help: "Admitted connections by role",
    labelNames: ["role"],
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const gauges = {
    otherConnections: gauge("a2c_connections_other", "Connections that are not admitted, or are closing"),
    offices: gauge("a2c_offices", "Offices with members on this process"),
    requestsInFlight: gauge("a2c_requests_in_flight", "Relayed requests that wait for their answer"),
    bytesInFlight: gauge("a2c_bytes_in_flight", "Memory of the requests in flight, estimated"),
    messageBytes: gauge(
      "a2c_message_memory_bytes",
      "Bytes of messages that have not arrived completely, or wait for members that read slowly",
    ),
    isReady: gauge("a2c_ready", "1 while new sessions are accepted, else 0"),
  };
  let certificateExpiry: Gauge | undefined;
  let auditLines: Counter | undefined;
  return (snapshot) => {
    const { certificateExpiresAtMs, auditLinesLost } = snapshot;
    if (auditLinesLost !== undefined) {
      auditLines ??= new Counter({
        name: "a2c_audit_lines_lost_total",
        help: "Lines of the audit trail that could not be written to the audit log",
        registers,
      });
      auditLines.reset();
      auditLines.inc(auditLinesLost);
    }
    if (certificateExpiresAtMs !== undefined) {
      certificateExpiry ??= gauge(
        "a2c_tls_certificate_expiry_timestamp_seconds",
        "When the TLS certificate expires, since the epoch",
      );
      certificateExpiry.set(certificateExpiresAtMs / 1_000);
    }
    for (const [role, count] of Object.entries(snapshot.connections)) connections.set({ role }, count);
    for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) {
      gauges[name].set(Number(snapshot[name]));
    }
  };
}

const MICROSECONDS = 1_000_000;

/** Adds the metrics of the process that need no permission, under the names that Prometheus gives them. */
function addProcess(registers: Registry[]): void {
  const startedAtSeconds = Date.now() / 1_000 - process.uptime();
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process in seconds",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage().rss);
    },
  });
  new Gauge({
    name: "process_heap_bytes",
    help: "Used heap of the process in bytes",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Gauge({ name: "process_start_time_seconds", help: "Start of the process since the epoch", registers })
    .set(
      startedAtSeconds,
    );
}
