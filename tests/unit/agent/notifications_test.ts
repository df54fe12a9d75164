import { assertEquals, assertThrows } from "@std/assert";
import { readNotification } from "../../../src/agent/notifications.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";

// proves: data-enter-notification, data-leave-notification
Deno.test("readNotification() tells who came and who left, and what it is", () => {
  assertEquals(readNotification("notify:enter_office", { office_id: "lab", computer: "laptop" }), {
    type: "enterOffice",
    office: "lab",
    role: "computer",
    name: "laptop",
  });
  assertEquals(readNotification("notify:leave_office", { office_id: "lab", agent: "ada", computer: null }), {
    type: "leaveOffice",
    office: "lab",
    role: "agent",
    name: "ada",
  });
});

// proves: data-update-config-notification, data-update-tools-notification
Deno.test("readNotification() tells whose configuration, tools, windows or documents changed", () => {
  const changes = {
    "notify:update_config": "updateConfig",
    "notify:update_tool_list": "updateToolList",
    "notify:update_desktop": "updateDesktop",
    "notify:update_finder": "updateFinder",
    "notify:update_resources": "updateResources",
  };
  for (const [event, type] of Object.entries(changes)) {
    assertEquals<unknown>(readNotification(event, { computer: "laptop" }), { type, computer: "laptop" });
  }
});

Deno.test("readNotification() tells how far which call has come", () => {
  const update = { computer: "laptop", req_id: "r1", progress: 1 };
  const told = { type: "updateProgress", computer: "laptop", reqId: "r1", progress: 1 } as const;
  assertEquals(readNotification("notify:update_progress", update), { ...told, hasMessage: false });
  assertEquals(readNotification("notify:update_progress", { ...update, total: 3, has_message: true }), {
    ...told,
    total: 3,
    hasMessage: true,
  });
});

Deno.test("readNotification() tells which call was cancelled", () => {
  assertEquals(readNotification("notify:tool_call_cancel", { agent: "ada", req_id: "r1" }), {
    type: "cancelToolCall",
    agent: "ada",
    reqId: "r1",
  });
});

Deno.test("readNotification() passes on what newer peers tell", () => {
  const body = { computer: "laptop" };
  assertEquals(readNotification("notify:update_skills", body), {
    type: "notification",
    event: "notify:update_skills",
    body,
  });
});

Deno.test("readNotification() refuses what is malformed", () => {
  const malformed: [string, unknown][] = [
    ["notify:enter_office", undefined],
    ["notify:enter_office", { office_id: "lab" }],
    ["notify:leave_office", { office_id: "lab", agent: "a", computer: "b" }],
    ["notify:update_desktop", { computer: 7 }],
    ["notify:update_progress", { computer: "laptop" }],
    ["notify:update_finder", "laptop"],
    ["notify:tool_call_cancel", { agent: "ada" }],
  ];
  for (const [event, body] of malformed) {
    assertEquals(assertThrows(() => readNotification(event, body), SmcpError).code, 400);
  }
});
