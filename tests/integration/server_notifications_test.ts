import { assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "./_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const phone = { role: "computer", name: "phone", office_id: "lab" } as const;
const stranger = { role: "agent", name: "eve", office_id: "den" } as const;

/** The code of the error that an ack carries. */
function codeOf([answer]: readonly unknown[]): unknown {
  return answer !== null && typeof answer === "object" && "code" in answer ? answer.code : answer;
}

// proves: guide-event-names, guide-server-skips-sender, data-update-req, desktop-update-shape, finder-update-shape
// proves: data-update-config-notification, data-update-tools-notification
Deno.test("server:update_<x> is broadcast as notify:update_<x> to the office without the sender", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using other = await RawPeer.join(server.url, phone);
  await using sender = await RawPeer.join(server.url, laptop);
  await using outsider = await RawPeer.join(server.url, stranger);
  for (const what of ["config", "tool_list", "desktop", "finder", "skills"]) {
    assertEquals(await sender.request(`server:update_${what}`, { computer: "laptop" }), []);
    assertEquals(await agent.next(`notify:update_${what}`), { computer: "laptop" });
    assertEquals(await other.next(`notify:update_${what}`), { computer: "laptop" });
  }
  assertEquals(await sender.settled(), []);
  assertEquals(await outsider.settled(), []);
});

Deno.test("server:update_<x> names the sender, whatever its payload says", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using _victim = await RawPeer.join(server.url, phone);
  await using sender = await RawPeer.join(server.url, laptop);
  sender.socket.emit("server:update_finder", { computer: "phone", extra: 1 });
  assertEquals(await agent.next("notify:update_finder"), { computer: "laptop" });
});

// proves: ext-progress-relay
Deno.test("server:update_progress is broadcast with its numbers and the sender's name, and nothing else", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using sender = await RawPeer.join(server.url, laptop);
  const update = { req_id: "r1", progress: 1.5, total: 3, has_message: true };
  await sender.request("server:update_progress", { computer: "phone", ...update, message: "secret" });
  assertEquals(await agent.next("notify:update_progress"), { computer: "laptop", ...update });
  const wrong = [{ progress: 1 }, { req_id: "r1" }, { ...update, total: "3" }, { ...update, req_id: "" }];
  for (const body of wrong) {
    const ack = await sender.request("server:update_progress", { computer: "laptop", ...body });
    assertEquals(codeOf(ack), 400);
  }
  const heard = (await agent.settled()).map(([event]) => event);
  assertEquals(heard, ["notify:enter_office", "notify:update_progress"]);
});

// proves: guide-server-no-office
Deno.test("server:update_<x> is refused in the order 400, 4103, 403, and then reaches nobody", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using listener = await RawPeer.join(server.url, laptop);
  await using sender = await RawPeer.connect(server.url);
  assertEquals(codeOf(await sender.request("server:update_desktop", {})), 400);
  assertEquals(codeOf(await sender.request("server:update_desktop")), 400);
  assertEquals(codeOf(await sender.request("server:update_desktop", { computer: "x" })), 4103);
  await sender.request("server:join_office", ada);
  assertEquals(codeOf(await sender.request("server:update_desktop", { computer: 5 })), 400);
  assertEquals(codeOf(await sender.request("server:update_desktop", { computer: "x" })), 403);
  assertEquals((await listener.settled()).map(([event]) => event), ["notify:enter_office"]);
});

Deno.test("server:tool_call_cancel is broadcast with the sender's own name and the req_id", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  await using sender = await RawPeer.join(server.url, ada);
  await using outsider = await RawPeer.join(server.url, { ...laptop, office_id: "den" });
  assertEquals(await sender.request("server:tool_call_cancel", { agent: "agent-7", req_id: "r1" }), []);
  assertEquals(await computer.next("notify:tool_call_cancel"), { agent: "ada", req_id: "r1" });
  assertEquals(await sender.settled(), []);
  assertEquals(await outsider.settled(), []);
});

Deno.test("server:tool_call_cancel is refused in the order 400, 4103, 403", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using sender = await RawPeer.connect(server.url);
  assertEquals(codeOf(await sender.request("server:tool_call_cancel", { agent: "a" })), 400);
  assertEquals(codeOf(await sender.request("server:tool_call_cancel", { agent: "a", req_id: "1" })), 4103);
  await sender.request("server:join_office", laptop);
  assertEquals(codeOf(await sender.request("server:tool_call_cancel", { agent: "a" })), 400);
  assertEquals(codeOf(await sender.request("server:tool_call_cancel", { agent: "a", req_id: "1" })), 403);
});

Deno.test("A refused event that asks for no ack is logged", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using sender = await RawPeer.join(server.url, laptop);
  sender.socket.emit("server:tool_call_cancel", { agent: "a", req_id: "r7" });
  await sender.settled();
  const line = logger.lines.find(({ fields }) => fields["req_id"] === "r7");
  assertEquals(line?.level, "warn");
  assertEquals(line?.fields, {
    module: "audit",
    action: "request",
    event: "server:tool_call_cancel",
    req_id: "r7",
    office: "lab",
    computer: "laptop",
    code: 403,
    sid: sender.id,
    principal: "anonymous",
  });
});
