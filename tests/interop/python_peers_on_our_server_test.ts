import { assertEquals, assertObjectMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpServer, staticTokens } from "../../server.ts";
import { fields, HELP, interop, picture, statusSays, TOKEN } from "./_office.ts";
import { type DriverName, PeerError, PythonPeer } from "./peer.ts";

function listen(): Promise<SmcpServer> {
  return SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: [TOKEN] }) });
}

const CREDENTIALS: Readonly<Record<DriverName, readonly string[]>> = {
  server: [],
  computer: ["--auth", `token=${TOKEN}`],
  agent: ["--token", TOKEN, "--await-join"],
};

/** A Python peer in the office `lab`. */
function join(server: SmcpServer, driver: "computer" | "agent", name: string, ...args: string[]) {
  const where = ["--url", server.url, "--office", "lab", "--name", name];
  return PythonPeer.start(driver, [...where, ...CREDENTIALS[driver], ...args]);
}

const computer = "laptop";

Deno.test("a Python Computer and a Python Agent do their work through our Server", interop, async (t) => {
  await using server = await listen();
  await using laptop = await join(server, "computer", computer);
  // Its requests may carry another name than the one it joined under.
  await using ada = await join(server, "agent", "ada", "--agent-id", "agent-7");

  await t.step("the Computer hears that the Agent came", async () => {
    // proves: data-enter-notification
    assertEquals((await laptop.nextEvent("notify:enter_office")).data, { office_id: "lab", agent: "ada" });
  });

  await t.step("the Agent lists everybody in the office", async () => {
    // proves: data-list-room-req, data-list-room-ret, data-session-info
    const data = { agent: "agent-7", req_id: "room-1", office_id: "lab" };
    const answer = await ada.command({ command: "request", event: "server:list_room", data });
    const member = { office_id: "lab", a2c_version: "0.2.0" };
    const sessions = [
      { ...member, sid: laptop.ready.sid, name: computer, role: "computer" },
      { ...member, sid: ada.ready.sid, name: "ada", role: "agent" },
    ];
    assertEquals(answer, [{ sessions, req_id: "room-1" }]);
  });

  await t.step("the Agent gets the tools", async () => {
    const answer = fields(await ada.command({ command: "tools", computer }));
    const tools = ["add", "slow", "set_status", "picture"].map((name) => ({ name }));
    assertObjectMatch(answer, { tools });
  });

  await t.step("the Agent calls a tool", async () => {
    const result = await ada.command({ command: "call", computer, tool: "add", params: { a: 40, b: 2 } });
    assertObjectMatch(fields(result), { isError: false, structuredContent: { sum: 42 } });
  });

  await t.step("a large picture arrives whole, though our Server knows nothing of blobs", async () => {
    // proves: guide-server-pure-routing
    const params = { size: 600_000 };
    const result = await ada.command({ command: "call", computer, tool: "picture", params });
    assertObjectMatch(fields(result), { content: [{ type: "image", data: picture(params.size) }] });
  });

  await t.step("an unknown tool is an error result", async () => {
    const result = await ada.command({ command: "call", computer, tool: "nope" });
    assertObjectMatch(fields(result), { isError: true, structuredContent: { error_type: "ValueError" } });
  });

  await t.step("a call to an unknown Computer is answered 404", async () => {
    // proves: guide-server-404
    const result = await ada.command({ command: "call", computer: "nobody", tool: "add" });
    assertStringIncludes(JSON.stringify(result), "[404] ");
  });

  await t.step("the Agent gets the desktop", async () => {
    // proves: data-desktop-ret
    const { desktops } = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(desktops, [statusSays("idle"), HELP]);
  });

  await t.step("the Agent hears of a changed window and fetches the desktop anew", async () => {
    // proves: desktop-update-shape, desktop-agent-refresh
    ada.takeEvents();
    await ada.command({ command: "call", computer, tool: "set_status", params: { text: "busy" } });
    assertEquals((await ada.nextEvent("notify:update_desktop")).data, { computer });
    await ada.nextEvent("sent", { where: (sent) => hasEvent(sent, "client:get_desktop") });
  });

  await t.step("a call that the Agent cancels ends at once", async () => {
    ada.takeEvents();
    const params = { seconds: 60 };
    const call = ada.command({ command: "call", computer, tool: "slow", params, timeout: 60 });
    const { data } = await ada.nextEvent("sent", { where: (sent) => hasEvent(sent, "client:tool_call") });
    const { req_id } = fields(fields(data).data);
    await ada.nextEvent("notify:update_desktop");
    const { desktops } = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(desktops, [statusSays("slow is running"), HELP]);
    await ada.command({ command: "cancel", req_id });
    const heard = await laptop.nextEvent("notify:tool_call_cancel");
    // Who cancels is known from the join, whatever the request says of it.
    assertEquals(heard.data, { agent: "ada", req_id });
    assertObjectMatch(fields(await call), { isError: true });
  });

  await t.step("events that our Server does not know pass through it in both directions", async () => {
    // proves: guide-server-pure-routing
    const data = { agent: "agent-7", req_id: "skills-1", computer };
    const answer = await ada.command({ command: "request", event: "client:get_skills", data });
    assertEquals(answer, [{ skills: [], req_id: "skills-1" }]);
    await laptop.command({ command: "update", what: "skills" });
    assertEquals((await ada.nextEvent("notify:update_skills")).data, { computer });
  });

  await t.step("the Computer hears that the Agent left", async () => {
    // proves: data-leave-notification
    await ada.command({ command: "leave" });
    assertEquals((await laptop.nextEvent("notify:leave_office")).data, { office_id: "lab", agent: "ada" });
  });
});

Deno.test("our Server refuses Python peers in words that they show", interop, async (t) => {
  await using server = await listen();
  await using _laptop = await join(server, "computer", computer);
  await using _ada = await join(server, "agent", "ada");

  await t.step("a second Agent", async () => {
    await assertRejects(() => join(server, "agent", "bob"), PeerError, "already has an agent");
  });

  await t.step("a Computer of a name that is taken", async () => {
    const refusal = `Computer with name '${computer}' already exists in room 'lab'`;
    await assertRejects(() => join(server, "computer", computer), PeerError, refusal);
  });

  await t.step("a wrong token", async () => {
    const stranger = ["--url", server.url, "--office", "lab", "--token", "guess"];
    await assertRejects(() => PythonPeer.start("agent", stranger), PeerError, "ConnectionError");
  });
});

function hasEvent(sent: unknown, event: string): boolean {
  return fields(sent).event === event;
}
