/** Describes an MCP server for the Agent, without addresses, commands and secrets. */
import { isRecord, textsOf } from "../json.ts";
import type { SupervisedServer } from "../mcp/supervision/supervised_server.ts";
import type { WarnOnce } from "../mcp/warn_once.ts";
import type { McpServerAbout, McpServerInfo } from "../protocol/mcp_servers.ts";
import { fitsApproximately } from "../protocol/size.ts";
import { shorten } from "../text.ts";
import type { ListLimits } from "./limits.ts";
import { isIcon } from "./resources/read.ts";

const MAX_TEXT_LENGTH = 4_096;
/** The most bytes of its icons, and of its capabilities; larger ones are left out. */
const MAX_PART_BYTES = 64 * 1024;

export interface DescribeOptions {
  readonly limits: Pick<ListLimits, "maxInstructionsLength">;
  readonly redact: (text: string) => string;
  readonly warnOnce: Pick<WarnOnce, "warn">;
}

/** Describes a server: its status, and while it runs what it said when its session began. */
export function describeServer(server: SupervisedServer, options: DescribeOptions): McpServerInfo {
  const { name, status, connection } = server;
  if (connection === undefined) return { mcp_server: name, status };
  const { version, serverInfo, instructions, capabilities } = connection.introduction;
  const describe = { ...options, name };
  return {
    mcp_server: name,
    status,
    mcp_version: version,
    ...(isRecord(serverInfo) ? { server_info: toAbout(serverInfo, describe) } : {}),
    ...(typeof instructions === "string" && instructions !== "" ? cut(instructions, describe) : {}),
    ...(fits(capabilities, "capabilities", describe) ? { capabilities } : {}),
  };
}

type Describe = DescribeOptions & { readonly name: string };

function cut(
  instructions: string,
  { limits: { maxInstructionsLength: limit }, redact, warnOnce, name: server }: Describe,
): Pick<McpServerInfo, "instructions" | "instructions_cut"> {
  const shown = redact(instructions);
  if (shown.length <= limit) return { instructions: shown };
  warnOnce.warn("instructions of an MCP server are cut: too long", { server, length: shown.length, limit });
  return { instructions: shorten(shown, limit), instructions_cut: true };
}

function toAbout(about: Readonly<Record<string, unknown>>, options: Describe): McpServerAbout {
  const { name, title, version, description, websiteUrl: website_url, icons } = about;
  const texts = textsOf({ name, title, version, description, website_url });
  const shown = Object.entries(texts).map(([key, text]) => [
    key,
    shorten(options.redact(text), MAX_TEXT_LENGTH),
  ]);
  const listed = Array.isArray(icons) ? icons.filter(isIcon) : [];
  const hasIcons = listed.length > 0 && fits(listed, "icons", options);
  return { ...Object.fromEntries(shown), ...(hasIcons ? { icons: listed } : {}) };
}

function fits(part: unknown, what: string, { warnOnce, name: server }: Describe): boolean {
  if (fitsApproximately(part, MAX_PART_BYTES)) return true;
  warnOnce.warn(`${what} of an MCP server are left out: too large`, { server, limit: MAX_PART_BYTES });
  return false;
}
