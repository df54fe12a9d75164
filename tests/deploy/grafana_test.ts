// The dashboard of deploy/grafana.json: each of its queries finds what it asks for in the metrics of a real Server.

import { assert, assertEquals } from "@std/assert";
import { isRecord } from "../../src/json/json.ts";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import { makeCertificate } from "../integration/_tls_server.ts";

/** The labels that Prometheus adds to what it fetches. */
const ADDED_LABELS = ["instance", "job"];
/** Words of PromQL that a name is not. */
const FUNCTIONS = ["min", "sum", "by", "rate", "histogram_quantile", "topk", "time", "label_values"];

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard: Dashboard = JSON.parse(
  await Deno.readTextFile(new URL("../../deploy/grafana.json", import.meta.url)),
);
const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ title, expr }))
);

/** The labels of each metric, once everything that a Server counts has happened. */
async function readMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const labels = new Map<string, Set<string>>();
  for (const line of `${await metricsOfTls()}\n${await metricsOfCalls()}`.split("\n")) {
    const [, name, pairs = ""] = /^([a-z_0-9]+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const names = [...pairs.matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
    labels.set(name, new Set([...labels.get(name) ?? [], ...names, ...ADDED_LABELS]));
  }
  return labels;
}

/** After an answered request and a refused one. */
async function metricsOfCalls(): Promise<string> {
  await using server = await SmcpServer.listen({ port: 0, metrics: true, countLostAuditLines: () => 0 });
  await using ada = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  await using laptop = await RawPeer.join(server.url, { role: "computer", name: "laptop", office_id: "lab" });
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  const request = { agent: "ada", computer: "laptop", req_id: "1" };
  await ada.request("client:get_tools", request);
  await ada.request("client:get_tools", { ...request, computer: "gone" });
  return await server.metrics();
}

async function metricsOfTls(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const tls = await makeCertificate(folder);
    await using server = await SmcpServer.listen({ port: 0, metrics: true, tls });
    return await server.metrics();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The metrics that a query reads, with the labels by which it selects and groups them. */
function readQuery(expr: string) {
  const selected = [...expr.matchAll(/\b([a-z_0-9]+)\{([^}]*)\}/g)].map(([, metric = "", pairs = ""]) => ({
    metric,
    labels: [...pairs.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = ""]) => label),
  }));
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(/,\s*/));
  return { selected, grouped };
}

Deno.test("each query of the dashboard reads metrics and labels that a Server has", async () => {
  const metrics = await readMetrics();
  const problems = queries.flatMap(({ title, expr }) => {
    const { selected, grouped } = readQuery(expr);
    if (selected.length === 0) return [`${title}: no metric in "${expr}"`];
    return selected.flatMap(({ metric, labels }) => {
      const known = metrics.get(metric);
      if (known === undefined) return [`${title}: no metric ${metric}`];
      return [...labels, ...grouped].filter((label) => !known.has(label))
        .map((label) => `${title}: ${metric} has no label ${label}`);
    });
  });
  assertEquals(problems, []);
});

Deno.test("the dashboard shows each metric of a Server", async () => {
  const shown = new Set(queries.flatMap(({ expr }) => readQuery(expr).selected.map(({ metric }) => metric)));
  const metrics = [...(await readMetrics()).keys()].map((name) => name.replace(/_(?:sum|count)$/, "_bucket"));
  assertEquals(metrics.filter((name) => !shown.has(name)), []);
});

Deno.test("the dashboard has a unique id for each panel, and braces that close", () => {
  assert(queries.length > 10 && isRecord(dashboard));
  for (const { expr } of queries) {
    for (const [open, close] of ["()", "{}", "[]"]) {
      assertEquals(expr.split(open ?? "").length, expr.split(close ?? "").length, expr);
    }
    const words = [...expr.replaceAll(/\{[^}]*\}/g, "").matchAll(/\b([a-z_]+)\s*\(/g)].map(([, word = ""]) =>
      word
    );
    assertEquals(words.filter((word) => !FUNCTIONS.includes(word)), [], expr);
  }
});
