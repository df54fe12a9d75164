/** The metrics of a Server as a text for Prometheus. */
import process from "node:process";
import { TOOL_CALL_EVENTS } from "../../protocol/call.ts";
import type { Member } from "../offices/office.ts";
import type { Counts, EventCounts, Meter } from "./meter.ts";

/** What is not counted, but looked up when the text is written. */
export interface Snapshot {
  readonly connections: readonly {
    readonly member: Pick<Member, "officeId" | "role" | "isObserver"> | undefined;
    readonly inFlight: { readonly requests: number; readonly bytes: number };
  }[];
  readonly otherConnections: number;
  /** Bytes of messages on their way: incomplete, or waiting for members that read slowly. */
  readonly messageBytes: number;
  readonly isReady: boolean;
  /** When the TLS certificate expires, in milliseconds since the epoch; `undefined` without TLS. */
  readonly certificateExpiresAtMs: number | undefined;
  /** How many watched files have a newest version that is not in use. */
  readonly refusedFiles: number;
  /** Lines that are missing in the audit log; `undefined` without one. */
  readonly auditLinesLost: number | undefined;
  readonly outside: OutsideCounts;
}

/** What the program around a Server has, if it has any. */
export interface OutsideCounts {
  /** Sessions of MCP clients of 2025, at a hub. */
  readonly mcpSessions?: () => number;
  /** Machines whose code waits for the operator. */
  readonly machinesWaiting?: () => number;
}

interface Source extends Snapshot {
  readonly meter: Meter;
}

interface Metric {
  readonly help: string;
  /** The value; `undefined` for a metric that this Server has not. */
  value(source: Source): number | readonly Sample[] | undefined;
}

interface Sample {
  /** What follows the name of the metric. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export function writeMetrics(source: Source): string {
  return Object.entries(METRICS).flatMap(([name, { help, value }]) => {
    const values = value(source);
    if (values === undefined) return [];
    const samples = typeof values === "number" ? [{ labels: {}, value: values }] : values;
    return `# HELP ${name} ${help}\n# TYPE ${name} ${typeOf(name)}\n${samples.map(lineOf(name)).join("")}`;
  }).join("\n");
}

/** Prometheus's convention for names. */
function typeOf(name: string): "counter" | "gauge" | "histogram" {
  if (name.endsWith("_total")) return "counter";
  return name.endsWith("_duration_seconds") ? "histogram" : "gauge";
}

/** Labels are not escaped: no peer chooses them. */
function lineOf(name: string) {
  return ({ suffix = "", labels, value }: Sample): string => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`).join(",");
    return `${name}${suffix}${pairs && `{${pairs}}`} ${value}\n`;
  };
}

const STARTED_AT_S = Date.now() / 1_000 - process.uptime();

const METRICS: Readonly<Record<string, Metric>> = {
  a2c_requests_total: {
    help: "Events of members by name and outcome",
    value: ({ meter }) =>
      meter.events().flatMap(({ event, outcomes }) =>
        occurred(outcomes).map(([outcome, value]) => ({ labels: { event, outcome }, value }))
      ),
  },
  a2c_request_errors_total: {
    help: "Errors with which events of members have ended, by their code",
    value: ({ meter }) =>
      meter.events().flatMap(({ event, codes }) =>
        // Of calls also those that never occurred, so that an increase can be told from the first on.
        (TOOL_CALL_EVENTS.has(event) ? codes.entries() : occurred(codes)).map(([code, value]) => {
          return { labels: { event, code }, value };
        })
      ),
  },
  a2c_refusals_total: {
    help: "Connections and handshakes that the Server refused or ended, by reason",
    // Also those that never occurred, so that a rate can be told from the first on.
    value: ({ meter }) => meter.refusals.entries().map(([reason, value]) => ({ labels: { reason }, value })),
  },
  a2c_bytes_total: {
    help: "Bytes of the messages of sessions, with the frames of WebSockets",
    value: ({ meter }) =>
      Object.entries(meter.bytes).map(([direction, value]) => ({ labels: { direction }, value })),
  },
  a2c_relay_duration_seconds: {
    help: "Time from a relayed request to the answer of the Computer",
    value: ({ meter }) => meter.events().flatMap(latenciesOf),
  },
  a2c_connections: {
    help: "Admitted connections by role",
    value: ({ connections }) =>
      ["agent", "computer", "observer", "none"].map((role) => {
        const value = connections.filter(({ member }) => roleOf(member) === role).length;
        return { labels: { role }, value };
      }),
  },
  a2c_connections_other: {
    help: "Connections that are not admitted, or are closing",
    value: ({ otherConnections }) => otherConnections,
  },
  a2c_offices: {
    help: "Offices with members on this process",
    value: ({ connections }) => new Set(connections.flatMap(({ member }) => member?.officeId ?? [])).size,
  },
  a2c_requests_in_flight: {
    help: "Relayed requests that wait for their answer",
    value: ({ connections }) => connections.reduce((sum, { inFlight }) => sum + inFlight.requests, 0),
  },
  a2c_bytes_in_flight: {
    help: "Memory of the requests in flight, estimated",
    value: ({ connections }) => connections.reduce((sum, { inFlight }) => sum + inFlight.bytes, 0),
  },
  a2c_message_memory_bytes: {
    help: "Bytes of messages that have not arrived completely, or wait for members that read slowly",
    value: ({ messageBytes }) => messageBytes,
  },
  a2c_ready: {
    help: "1 while new sessions are accepted, else 0",
    value: ({ isReady }) => Number(isReady),
  },
  a2c_refused_files: {
    help: "Files of credentials, keys and certificates whose newest version was refused",
    value: ({ refusedFiles }) => refusedFiles,
  },
  process_cpu_seconds_total: {
    help: "CPU time of the process in seconds",
    value() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000_000;
    },
  },
  process_resident_memory_bytes: {
    help: "Resident memory of the process in bytes",
    value: () => process.memoryUsage().rss,
  },
  process_heap_bytes: {
    help: "Used heap of the process in bytes",
    value: () => process.memoryUsage().heapUsed,
  },
  process_start_time_seconds: {
    help: "Start of the process since the epoch",
    value: () => STARTED_AT_S,
  },
  a2c_audit_lines_lost_total: {
    help: "Lines of the audit trail that could not be written to the audit log",
    value: ({ auditLinesLost }) => auditLinesLost,
  },
  a2c_mcp_sessions: {
    help: "Sessions of MCP clients at a hub, without those of clients that have none",
    value: ({ outside }) => outside.mcpSessions?.(),
  },
  a2c_machines_waiting: {
    help: "Machines that wait for the operator to approve their code",
    value: ({ outside }) => outside.machinesWaiting?.(),
  },
  a2c_tls_certificate_expiry_timestamp_seconds: {
    help: "When the TLS certificate expires, since the epoch",
    value: ({ certificateExpiresAtMs: ms }) => ms === undefined ? undefined : ms / 1_000,
  },
};

export function roleOf(member: Snapshot["connections"][number]["member"]): string {
  if (member === undefined) return "none";
  return member.isObserver ? "observer" : member.role;
}

function occurred<Name>(counts: Counts<Name>): readonly (readonly [Name, number])[] {
  return counts.entries().filter(([, value]) => value > 0);
}

function latenciesOf({ event, latencies, latencySumS }: EventCounts): readonly Sample[] {
  let total = 0;
  const buckets = latencies.entries().map(([bound, count]) => ({
    suffix: "_bucket",
    labels: { event, le: bound === Infinity ? "+Inf" : bound },
    value: total += count,
  }));
  if (total === 0) return [];
  const labels = { event };
  return [...buckets, { suffix: "_sum", labels, value: latencySumS }, {
    suffix: "_count",
    labels,
    value: total,
  }];
}
