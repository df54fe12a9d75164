/** What only the Agent's command line shows. Pure: values in, text out. */
import { drawColumns } from "../../terminal/shapes.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { printableLine } from "../../terminal/safe_text.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { GetComputerConfigRet, MCPServerConfig } from "../../protocol/config.ts";

/** Who is in the office. */
export function officeText(sessions: readonly SessionInfo[], { strong, faint }: Palette = PLAIN): string {
  if (sessions.length === 0) return "nobody is in the office";
  const rows = sessions.map(({ role, name, a2c_version }) => [
    role,
    name,
    `protocol ${a2c_version ?? "unknown"}`,
  ]);
  return drawColumns(rows, { paints: [undefined, strong, faint] });
}

/** One line an event. */
export function eventText(event: AgentEvent): string {
  return printableLine(describeEvent(event));
}

function describeEvent(event: AgentEvent): string {
  const { type } = event;
  switch (type) {
    case "enterOffice":
    case "leaveOffice":
      return `${event.role} ${event.name} ${type === "enterOffice" ? "came" : "left"}`;
    case "updateConfig":
    case "updateToolList":
    case "updateDesktop":
    case "updateFinder":
    case "updateResources":
      return `computer ${event.computer}: ${CHANGES[type]} changed`;
    case "cancelToolCall":
      return `agent ${event.agent} cancelled call ${event.reqId}`;
    case "notification":
      return `${event.event} ${JSON.stringify(event.body) ?? ""}`.trimEnd();
    case "disconnected":
      return `connection lost (${event.reason})`;
    case "reconnected":
      return "connection is back";
    case "failed":
      return `connection failed: ${event.error.message}`;
    default:
      return `computer ${event.computer}: ${type}`;
  }
}

const CHANGES = {
  updateConfig: "configuration",
  updateToolList: "tools",
  updateDesktop: "desktop",
  updateFinder: "documents",
  updateResources: "resources",
} as const;

export function configText(
  { servers, inputs }: GetComputerConfigRet,
  { strong, faint }: Palette = PLAIN,
): string {
  const rows = Object.entries(servers).map(([name, server]) => [
    name,
    server.type,
    server.disabled ? "disabled" : "enabled",
    addressOf(server),
  ]);
  const asked = (inputs ?? []).map(({ id, type, description }) => [`input ${id}`, type, description]);
  const shown = rows.length === 0
    ? "no MCP servers"
    : drawColumns(rows, { paints: [strong, undefined, undefined, faint] });
  return [shown, drawColumns(asked, { paints: [strong] })].filter((text) => text !== "")
    .join("\n\n");
}

function addressOf(server: MCPServerConfig): string {
  if (server.type !== "stdio") return server.server_parameters.url;
  const { command, args } = server.server_parameters;
  return [command, ...args].join(" ");
}
