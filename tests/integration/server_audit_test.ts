import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type AuthDecision, type AuthProvider, CredentialsEndedError, SmcpServer } from "../../server.ts";
import { startDoor } from "../fixtures/door.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import { eventually } from "../fixtures/within.ts";
import { type LogLine, RawPeer, RecordingLogger } from "./_socket.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const call = { agent: "ada", req_id: "r1", computer: "laptop" };

/** The lines of the audit trail: the action, the message, and those of their fields that are asked for. */
function auditOf(logger: RecordingLogger, ...names: readonly string[]): unknown[][] {
  const isAudit = ({ fields }: LogLine) => fields["module"] === "audit";
  return logger.lines.filter(isAudit).map(({ message, fields }) => [
    fields["action"],
    message,
    ...names.map((name) => fields[name]),
  ]);
}

const ORIGIN = "Origin not allowed: allow it with --allow-origin";

Deno.test("the audit trail has connections, joins and leaves with the principal and the address", async () => {
  const logger = new RecordingLogger();
  const auth: AuthProvider = { authenticate: () => ({ principal: "team-1" }) };
  await using server = await SmcpServer.listen({ port: 0, logger, auth });
  const agent = await RawPeer.join(server.url, ada);
  const { id } = agent;
  await agent.request("server:leave_office", { office_id: "lab" });
  await agent[Symbol.asyncDispose]();
  assertEquals(auditOf(logger, "principal", "office", "name", "sid"), [
    ["connect", "connected", "team-1", undefined, undefined, id],
    ["join", "joined office", "team-1", "lab", "ada", id],
    ["leave", "left office", "team-1", "lab", "ada", id],
  ]);
  assertEquals(auditOf(logger, "address")[0]?.[2], "127.0.0.1");
});

Deno.test("the audit trail says why each membership ended", async () => {
  const logger = new RecordingLogger();
  const accounts = new Map<unknown, AbortController>();
  let isExpiring = false;
  const auth: AuthProvider = {
    authenticate({ auth: { account = "steady" } }) {
      const { signal } = accounts.get(account) ?? new AbortController();
      const end = isExpiring ? { expiresAtMs: Date.now() + 1_000 } : {};
      return { principal: String(account), signal, ...end };
    },
  };
  accounts.set("revoked", new AbortController());
  accounts.set("changed", new AbortController());
  await using server = await SmcpServer.listen({ port: 0, logger, auth });
  const join = (name: string, auth: Record<string, unknown> = {}) =>
    RawPeer.join(server.url, { ...laptop, name }, { auth });
  await using leaving = await join("leaving");
  await leaving.request("server:leave_office", { office_id: "lab" });
  await using closing = await join("closing");
  closing.socket.disconnect();
  await using lost = await join("lost");
  await lost.cut();
  await using replaced = await join("replaced", { session: "s" });
  await using replacing = await join("replaced", { session: "s" });
  await using brief = await join("brief", { account: "brief" });
  await using revoked = await join("revoked", { account: "revoked" });
  await using changed = await join("changed", { account: "changed" });
  accounts.get("revoked")?.abort();
  accounts.get("changed")?.abort(new CredentialsEndedError("other offices", { kind: "changed" }));
  await Promise.all([replaced, revoked, changed].map(({ disconnected }) => disconnected));
  isExpiring = true;
  brief.socket.emit("server:renew_credentials", { auth: { account: "brief" } });
  await brief.disconnected;
  await replacing.settled();
  await server.drain({ timeoutMs: 500 });
  const reasons = auditOf(logger, "name", "reason").filter(([action]) => action === "leave");
  assertEquals(Object.fromEntries(reasons.map(([, , name, reason], i) => [`${name} ${i}`, reason])), {
    "leaving 0": "left",
    "closing 1": "left",
    "lost 2": "connection_lost",
    "replaced 3": "session_replaced",
    "revoked 4": "credentials_revoked",
    "changed 5": "credentials_changed",
    "brief 6": "credentials_expired",
    "replaced 7": "server_closing",
  });
});

Deno.test("the audit trail says that the Server closes, also without a drain", async () => {
  const logger = new RecordingLogger();
  const server = await SmcpServer.listen({ port: 0, logger });
  await using _agent = await RawPeer.join(server.url, ada);
  await server.close();
  assertEquals(auditOf(logger, "name", "reason").at(-1), ["leave", "left office", "ada", "server_closing"]);
});

Deno.test("the audit trail has newer credentials with their end, and refused ones, which are not refused connections", async () => {
  const logger = new RecordingLogger();
  let decision: AuthDecision = { principal: "team-1" };
  const auth: AuthProvider = { authenticate: () => decision };
  await using server = await SmcpServer.listen({ port: 0, logger, auth, metrics: true });
  const renew = async (next: AuthDecision) => {
    decision = { principal: "team-1" };
    await using agent = await RawPeer.join(server.url, ada);
    decision = next;
    return await agent.request("server:renew_credentials", { auth: {} });
  };
  const expiresAtMs = Date.UTC(2100, 0, 1);
  assertEquals(await renew({ principal: "team-1", expiresAtMs }), [true, null]);
  assertEquals(await renew({ principal: "team-1", expiresAtMs: Infinity }), [true, null]);
  for (const next of [{ refused: "wrong token", log: { expires: "wanted" } }, { principal: "team-2" }]) {
    assertEquals((await renew(next))[0], false);
  }
  const lines = auditOf(logger, "principal", "name", "office", "code", "expires");
  assertEquals(lines.filter(([action]) => action === "renew").map(([, ...fields]) => fields), [
    ["renewed the credentials", "team-1", "ada", "lab", undefined, "2100-01-01T00:00:00.000Z"],
    ["renewed the credentials", "team-1", "ada", "lab", undefined, undefined],
    ["Unauthorized: wrong token", "team-1", undefined, "lab", 401, "wanted"],
    [
      "Cannot renew the credentials: they are of another principal",
      "team-1",
      undefined,
      "lab",
      403,
      undefined,
    ],
  ]);
  assertEquals(lines.filter(([, message]) => message === "refused a connection"), []);
  assertStringIncludes(await server.metrics(), 'a2c_refusals_total{reason="credentials"} 0');
});

Deno.test("the audit trail has refused credentials and pages", async () => {
  const logger = new RecordingLogger();
  const log = { user: "eve", module: "mine", action: "leave", reason: "mine" };
  const auth: AuthProvider = { authenticate: () => ({ refused: "unknown user", log }) };
  await using server = await SmcpServer.listen({ port: 0, logger, auth });
  await assertRejects(() => RawPeer.connect(server.url));
  const target = `${server.url}/socket.io/?EIO=4&transport=polling&a2c_version=0.2.0`;
  await (await fetch(target, { headers: { origin: "https://evil.example" } })).body?.cancel();
  assertEquals(auditOf(logger, "reason", "user", "code", "address"), [
    ["connect", "refused a connection", "unknown user", "eve", undefined, "127.0.0.1"],
    ["connect", "refused a handshake", ORIGIN, undefined, 403, "127.0.0.1"],
  ]);
});

Deno.test("the audit trail has what was refused for lack of a right, and names attempts on another office", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, { ...laptop, office_id: "vault" });
  await agent.request("server:list_room", { agent: "ada", req_id: "1", office_id: "vault" });
  await agent.request("server:leave_office", { office_id: "vault" });
  await agent.request("server:join_office", { ...ada, office_id: "vault" });
  await agent.request("client:tool_call", call);
  await computer.request("client:tool_call", call);
  const refused = auditOf(logger, "code", "cross_office", "wanted_office", "office").filter(([, , code]) =>
    code !== undefined
  );
  assertEquals(refused.map(([action, , ...fields]) => [action, ...fields]), [
    ["list", 403, true, "vault", "lab"],
    ["leave", 403, true, "vault", "lab"],
    ["join", 403, true, "vault", "lab"],
    ["request", 404, undefined, undefined, "lab"],
    ["request", 403, undefined, undefined, "vault"],
  ]);
});

Deno.test("the audit trail has a bounded rate of refusals for one connection", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using agent = await RawPeer.join(server.url, ada);
  const startMs = performance.now();
  for (let i = 0; i < 100; i++) agent.socket.emit("client:tool_call", call);
  await agent.settled();
  const refusals = auditOf(logger, "code").filter(([, , code]) => code === 404);
  // 20 at once, then two a second.
  const most = 20 + 2 * (performance.now() - startMs) / 1_000;
  assert(refusals.length >= 1 && refusals.length <= most, `${refusals.length} lines`);
});

Deno.test("server.ts writes the audit trail to a file as well, also connections, for its owner alone", async () => {
  using folder = new TempFolder();
  const path = `${folder.path}/audit.log`;
  await Deno.writeTextFile(path, '{"message":"before"}\n', { mode: 0o600 });
  await using program = startHosted("server.ts", [
    "--port",
    "0",
    "--log-level",
    "error",
    "--audit-log",
    path,
  ]);
  const url = await program.listening();
  const agent = await RawPeer.join(url, ada);
  await agent[Symbol.asyncDispose]();
  const read = async () =>
    (await Deno.readTextFile(path)).trim().split("\n").map((line) => JSON.parse(line).message);
  const messages = await eventually(read, (messages) => messages.includes("left office"), "the last line");
  assertEquals(messages, ["before", "connected", "joined office", "left office"]);
  assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  program.kill("SIGTERM");
  const { code, stderr } = await program.end();
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("server.ts does not start with an audit log that it cannot write", async () => {
  await using program = startHosted("server.ts", ["--port", "0", "--audit-log", "/nowhere/audit.log"]);
  const { code, stderr } = await program.end();
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'Cannot open audit log "/nowhere/audit.log": its folder does not exist');
});

Deno.test({
  name: "server.ts counts the lines that its audit log could not take, as on a full disk, and goes on",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const args = ["--port", "0", "--metrics-port", "0", "--audit-log", "/dev/full"];
    await using program = startDoor("server.ts", args);
    await program.said("serving metrics");
    const url = await program.listening();
    await using agent = await RawPeer.join(url, ada);
    await agent.request("server:leave_office", { office_id: "lab" });
    const [, metricsUrl = ""] = /serving metrics url=(\S+)/.exec(program.stderr.text) ?? [];
    assertStringIncludes(await (await fetch(metricsUrl)).text(), "\na2c_audit_lines_lost_total 3\n");
    program.kill("SIGTERM");
    const { code, stderr } = await program.end();
    const lost = [...stderr.matchAll(/failed to write the audit log .*lines_lost=(\d+)/g)].map(([, count]) =>
      count
    );
    assertEquals([code, lost], [0, ["1", "2"]]);
  },
});
