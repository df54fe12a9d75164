/**
 * Compares how long refusals take that must not tell whether an office, or a Computer of it, exists: medians of requests that
 * alternate within one run, over one connection. Prints a table; exit code 2 if two medians differ by more than the limit.
 *
 * ```sh
 * deno run -A bench/attacks/timing.ts
 * ```
 */
import { SmcpServer, staticTokens } from "../../server.ts";
import { RawPeer } from "../../tests/integration/_socket.ts";

const ROUNDS = 3_000;
const WARM_UP = 500;
/** The largest difference of two medians, as a share of the smaller one. */
const MAX_DIFFERENCE = 0.05;

const auth = staticTokens({ tokens: ["victims", { token: "limited", offices: ["den"] }] });
await using server = await SmcpServer.listen({ port: 0, auth });
await using _ada = await RawPeer.join(
  server.url,
  { role: "agent", name: "ada", office_id: "lab" },
  { auth: { token: "victims" } },
);
await using _laptop = await RawPeer.join(
  server.url,
  { role: "computer", name: "laptop", office_id: "lab" },
  { auth: { token: "victims" } },
);
await using spy = await RawPeer.join(
  server.url,
  { role: "agent", name: "spy", office_id: "den" },
  { auth: { token: "limited" } },
);
await using outsider = await RawPeer.connect(server.url, { auth: { token: "limited" } });

const CASES: Readonly<
  Record<string, (name: "laptop" | "nobody", office: "lab" | "nil") => Promise<unknown>>
> = {
  "a request to a Computer of another office": (computer) =>
    spy.request("client:get_tools", { agent: "a", req_id: "r", computer }),
  "the list of another office": (_, office_id) =>
    spy.request("server:list_room", { agent: "a", req_id: "r", office_id }),
  "a leave of another office": (_, office_id) => spy.request("server:leave_office", { office_id }),
  "a cancel of a call of another office": (computer) =>
    spy.request("server:tool_call_cancel", { agent: "a", req_id: computer }),
  "a join that the credentials do not allow": (_, office_id) =>
    outsider.request("server:join_office", { role: "agent", name: "a", office_id }),
};

let isEqual = true;
for (const [what, ask] of Object.entries(CASES)) {
  const timesMs: [existing: number[], missing: number[]] = [[], []];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const which of round % 2 === 0 ? [0, 1] as const : [1, 0] as const) {
      const startMs = performance.now();
      await (which === 0 ? ask("laptop", "lab") : ask("nobody", "nil"));
      if (round >= WARM_UP) timesMs[which].push(performance.now() - startMs);
    }
  }
  const [existing, missing] = [medianOf(timesMs[0]), medianOf(timesMs[1])];
  const difference = Math.abs(existing - missing) / Math.min(existing, missing);
  isEqual &&= difference <= MAX_DIFFERENCE;
  const figures = `${(existing * 1_000).toFixed(1)} µs, missing ${(missing * 1_000).toFixed(1)} µs`;
  console.log(`${what.padEnd(44)} existing ${figures}, difference ${(difference * 100).toFixed(1)} %`);
}
if (!isEqual) console.log(`FAILED: two medians differ by more than ${MAX_DIFFERENCE * 100} %`);
Deno.exitCode = isEqual ? 0 : 2;

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
