/** Describes an MCP server for the Agent, without addresses, commands and secrets. */
import { isRecord, textsOf } from "../json.ts";
import type { Introduction } from "../mcp/handshake.ts";
import type { SupervisedServer } from "../mcp/supervision/supervised_server.ts";
import type { McpServerAbout, McpServerInfo } from "../protocol/mcp_servers.ts";
import { fitsApproximately } from "../protocol/size.ts";
import { shorten } from "../text.ts";
import type { ListLimits } from "./limits.ts";
import { isIcon } from "./resources/read.ts";

/** The most characters of a text that an MCP server says of its program. */
const MAX_TEXT_LENGTH = 4_096;
/** The most bytes of its icons, and of its capabilities; larger ones are left out. */
const MAX_PART_BYTES = 64 * 1024;

/** What a description needs. */
export interface DescribeOptions {
  readonly limits: Pick<ListLimits, "maxInstructionsLength">;
  /** Removes known secrets from what the MCP server says. */
  readonly redact: (text: string) => string;
}

/** Describes a server: its status, and while it runs what it said when its session began. */
export function describeServer(server: SupervisedServer, options: DescribeOptions): McpServerInfo {
  const { name, status, connection } = server;
  const about = connection === undefined ? {} : describe(connection.introduction, options);
  return { mcp_server: name, status, ...about };
}

function describe(
  introduction: Introduction,
  options: DescribeOptions,
): Omit<McpServerInfo, "mcp_server" | "status"> {
  const { version, serverInfo, instructions, capabilities } = introduction;
  return {
    mcp_version: version,
    ...(isRecord(serverInfo) ? { server_info: toAbout(serverInfo, options) } : {}),
    ...(typeof instructions === "string" && instructions !== "" ? cut(instructions, options) : {}),
    ...(fitsApproximately(capabilities, MAX_PART_BYTES) ? { capabilities } : {}),
  };
}

function cut(
  instructions: string,
  { limits: { maxInstructionsLength }, redact }: DescribeOptions,
): Pick<McpServerInfo, "instructions" | "instructions_cut"> {
  const shown = redact(instructions);
  if (shown.length <= maxInstructionsLength) return { instructions: shown };
  return { instructions: shorten(shown, maxInstructionsLength), instructions_cut: true };
}

function toAbout(about: Readonly<Record<string, unknown>>, { redact }: DescribeOptions): McpServerAbout {
  const { name, title, version, description, websiteUrl: website_url, icons } = about;
  const texts = textsOf({ name, title, version, description, website_url });
  const shown = Object.entries(texts).map(([key, text]) => [key, shorten(redact(text), MAX_TEXT_LENGTH)]);
  const listed = Array.isArray(icons) ? icons.filter(isIcon) : [];
  const fits = listed.length > 0 && fitsApproximately(listed, MAX_PART_BYTES);
  return { ...Object.fromEntries(shown), ...(fits ? { icons: listed } : {}) };
}
