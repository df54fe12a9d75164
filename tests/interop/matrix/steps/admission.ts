/** Who is let in: the handshake, the rooms, and their refusals. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { SmcpServer } from "../../../../server.ts";
import { PROTOCOL_VERSIONS, type ProtocolMinor } from "../../../../src/protocol/version.ts";
import { isRecord } from "../../../../src/json/json.ts";
import { fields } from "../../_office.ts";
import type { Office } from "../office.ts";
import type { Step } from "../step.ts";

/** What the Server of the office answers to the first request of a client that sends this query. */
async function knock({ url }: Office, query: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/socket.io/?EIO=4&transport=polling${query}`);
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : undefined };
}

/** A protocol that the office does not speak. */
function otherThan(minor: ProtocolMinor): ProtocolMinor {
  return minor === "0.2" ? "0.4" : "0.2";
}

/** Names a version mismatch in each language. */
const MISMATCH = /4008|ProtocolVersion|protocol/i;

async function nameOfRefusal(promise: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => promise, Error);
  return `${error.name}: ${error.message}`;
}

async function letIn(office: Office): Promise<void> {
  const { status } = await knock(office, `&a2c_version=${PROTOCOL_VERSIONS[office.minor]}`);
  assertEquals(status, 200);
}

async function refuseOthers(office: Office): Promise<void> {
  const { status, body } = await knock(office, "&a2c_version=0.9.0");
  const { code, client_version, min_supported, max_supported } = fields(body);
  assertEquals([status, code, client_version], [400, 4008, "0.9.0"]);
  assertMatch(`${min_supported} ${max_supported}`, /^0\.\d+\.0 0\.\d+\.999$/);
}

async function refuseNone(office: Office): Promise<void> {
  const { status, body } = await knock(office, "");
  assertEquals([status, isRecord(body) && body["code"]], [400, 400]);
}

async function understandMismatch(office: Office): Promise<void> {
  const minor = otherThan(office.minor);
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: [minor] });
  for (const role of ["agent", "computer"] as const) {
    const reach = (body: Record<string, unknown>) => office[role].command({ command: "reach", ...body });
    assertMatch(await nameOfRefusal(reach({ url: server.url })), MISMATCH);
    const isTheirServer = office.cell.server === "theirs" && office.cell[role] === "ours";
    if (isTheirServer) assertMatch(await nameOfRefusal(reach({ url: office.url, minor })), MISMATCH);
  }
}

async function join(office: Office): Promise<void> {
  await office.computer.command({ command: "join", office: office.name });
  const isComputer = (data: unknown) => fields(data)["computer"] === office.computerName;
  await office.agent.nextEvent("notify:enter_office", { where: isComputer });
}

async function listRoom(office: Office): Promise<void> {
  const [answer] = await office.agent.command({ command: "list_room" }) as unknown[];
  const sessions = fields(answer)["sessions"] as Record<string, unknown>[];
  const members = sessions.map(({ name, role, office_id }) => `${role} ${name} ${office_id}`);
  assertEquals(members.sort(), [
    `agent ${office.agentName} ${office.name}`,
    `computer ${office.computerName} ${office.name}`,
  ]);
}

async function refuseSecondComputer(office: Office): Promise<void> {
  const second = { command: "second", name: office.computerName, office: office.name };
  assertMatch(await nameOfRefusal(office.computer.command(second)), /already exists/);
}

async function refuseSecondAgent(office: Office): Promise<void> {
  assertMatch(await nameOfRefusal(office.agent.command({ command: "second", name: "bob" })), /already/);
}

/** In the order in which they run. */
export const admissionSteps: readonly Step[] = [
  { id: "handshake-match", title: "Handshake with the same version", run: letIn },
  { id: "handshake-mismatch", title: "Handshake with another version: 4008", run: refuseOthers },
  { id: "handshake-missing", title: "Handshake without a version: 400", run: refuseNone },
  { id: "mismatch-understood", title: "Clients name a refused version", run: understandMismatch },
  { id: "join", title: "The Computer joins, and the Agent hears of it", run: join },
  { id: "list-room", title: "`server:list_room`", run: listRoom },
  {
    id: "second-computer",
    title: "A second Computer of the same name is refused",
    run: refuseSecondComputer,
  },
  { id: "second-agent", title: "A second Agent is refused", run: refuseSecondAgent },
];
