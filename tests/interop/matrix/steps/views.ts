/** What an Agent sees of a Computer beside its tools: configuration, Desktop and resources. */
import { assertEquals, assertMatch, assertObjectMatch, assertRejects } from "@std/assert";
import { fields, GUIDE, HELP, statusSays } from "../../_office.ts";
import { PeerError } from "../../peer_process.ts";
import { LOCKED } from "../mcp_servers.ts";
import type { Office } from "../office.ts";
import type { Step } from "../step.ts";

async function readConfig(office: Office): Promise<void> {
  const [answer] = await office.agent.command({
    command: "config",
    computer: office.computerName,
  }) as unknown[];
  const servers = fields(fields(answer)["servers"]);
  assertEquals(Object.keys(servers).sort(), [...Object.keys(LOCKED), "old", "web", "windows"].sort());
  assertObjectMatch(servers, { windows: { name: "windows", type: "stdio" }, old: { type: "sse" } });
}

async function readDesktop(office: Office): Promise<void> {
  await office.call(["windows", "set_status"], { text: "seen" });
  await office.untilDesktopSays("status: seen");
  assertEquals(await office.desktop(), [statusSays("seen"), HELP]);
  assertEquals(await office.desktop({ size: 1 }), [statusSays("seen")]);
  assertEquals(await office.desktop({ window: "window://interop.windows/help" }), [HELP]);
}

async function hearOfDesktop(office: Office): Promise<void> {
  office.agent.takeEvents();
  await office.call(["windows", "set_status"], { text: "changed" });
  const { data } = await office.agent.nextEvent("notify:update_desktop");
  assertEquals(fields(data)["computer"], office.computerName);
  await office.untilDesktopSays("status: changed");
}

async function hearOfConfig(office: Office): Promise<void> {
  office.agent.takeEvents();
  await office.computer.command({ command: "update", what: "config" });
  const { data } = await office.agent.nextEvent("notify:update_config");
  assertEquals(fields(data)["computer"], office.computerName);
}

async function pageResources(office: Office): Promise<void> {
  const first = await office.ask("resources", { mcp_server: "windows" });
  assertObjectMatch(first, { resources: [{ name: "Help", mime_type: "text/plain" }, { name: "Status" }] });
  const last = await office.ask("resources", { mcp_server: "windows", cursor: first["next_cursor"] });
  assertObjectMatch(last, { resources: [{ uri: GUIDE }] });
  assertEquals(last["next_cursor"] ?? undefined, undefined);
}

async function refuseResources(office: Office): Promise<void> {
  for (const [mcp_server, code] of [["nope", 4014], ["web", 4015]] as const) {
    const error = await assertRejects(() => office.ask("resources", { mcp_server }), PeerError);
    assertMatch(error.message, new RegExp(`\\b${code}\\b`));
  }
  // A refusal is never an empty list, whoever relays it.
  for (const command of ["tools", "desktop"]) {
    await assertRejects(() => office.agent.command({ command, computer: "nobody" }), Error, "", command);
  }
  if (office.cell.server === "theirs" || office.cell.computer === "theirs") return;
  await assertRejects(() => office.desktop({ window: "window://" }), Error, "", "a window without a host");
}

/** In the order in which they run. */
export const viewSteps: readonly Step[] = [
  { id: "config", title: "Configuration", run: readConfig },
  { id: "desktop", title: "Desktop, whole and in part", run: readDesktop },
  { id: "update-desktop", title: "Notification of a changed window", run: hearOfDesktop },
  { id: "resources", title: "Resources, page by page", run: pageResources },
  { id: "resources-errors", title: "Refusals of tools, Desktop and resources", run: refuseResources },
  { id: "update-config", title: "Notification of a changed configuration", run: hearOfConfig },
];
