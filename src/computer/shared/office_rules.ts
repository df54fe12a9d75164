/** What differs between the protocol versions on a Computer (`docs/protocol/versions.md`). */
import type { ComputerConfig } from "../../config/config.ts";
import { identifyServers } from "../../config/bundle_id.ts";
import type { MCPServerConfig, SentComputerConfig } from "../../protocol/config.ts";
import { toErrorAckFor } from "../../protocol/flat_error.ts";
import { isFrom, PROTOCOL_VERSIONS, type ProtocolMinor } from "../../protocol/version.ts";
import { maskConfig, maskIdentifiedConfig } from "../secrets/masking.ts";

/** The most characters of the part of a skill's name that names an MCP server, for which protocol 0.2 has a limit. */
const MAX_SEGMENT_LENGTH = 64;

/** The MCP servers that run, in order of precedence, under the names by which the office knows them. */
export interface OfficeServers {
  readonly servers: readonly MCPServerConfig[];
  /** The name that each server has in the configuration, by its name in the office; without those that have one name. */
  readonly writtenNames: ReadonlyMap<string, string>;
  /** A sentence for each server that is left out. */
  readonly warnings: readonly string[];
}

export interface OfficeRules {
  readonly protocol: ProtocolMinor;
  /** Gives each MCP server of a configuration the name by which the office knows it. */
  readonly toOfficeServers: (config: Pick<ComputerConfig, "servers">) => OfficeServers;
  /** The configuration as the office may see it, with secrets masked. */
  readonly maskConfig: (config: ComputerConfig) => SentComputerConfig;
  /** Whether tools and configurations name their MCP server by `bundle_id`, and options of inputs have labels. */
  readonly hasBundleIds: boolean;
  /** Whether tags that an MCP server declares for its tools are listed. */
  readonly readsDeclaredTags: boolean;
  /** Whether a result that needs a sign-in says so as those peers read it. */
  readonly hasAuthHints: boolean;
  /** Whether large binaries of a result are always left out, and not only when the result is too large. */
  readonly emptiesBinaries: boolean;
  /** Whether the Agent may upload files. */
  readonly takesUploads: boolean;
  readonly hasSkillTags: boolean;
  /** The part of a skill's name that stands for its MCP server. */
  readonly skillSegmentOf: (server: MCPServerConfig) => string;
  readonly toErrorAck: (error: unknown, event: string) => unknown;
}

export function officeRulesOf(protocol: ProtocolMinor): OfficeRules {
  const hasBundleIds = isFrom(protocol, "0.3");
  return {
    protocol,
    toOfficeServers: hasBundleIds ? toIdentified : toNamed,
    maskConfig: hasBundleIds ? maskIdentifiedConfig : maskBareConfig,
    hasBundleIds,
    readsDeclaredTags: isFrom(protocol, "0.4"),
    hasAuthHints: isFrom(protocol, "0.3"),
    emptiesBinaries: isFrom(protocol, "0.3"),
    takesUploads: isFrom(protocol, "0.4"),
    hasSkillTags: isFrom(protocol, "0.4"),
    skillSegmentOf: ({ name }) =>
      hasBundleIds ? name : name.replaceAll(/[^A-Za-z0-9_-]/gu, "_").slice(0, MAX_SEGMENT_LENGTH),
    toErrorAck: (error, event) => toErrorAckFor(PROTOCOL_VERSIONS[protocol], error, event),
  };
}

function maskBareConfig(config: ComputerConfig): SentComputerConfig {
  const { servers, inputs } = maskConfig(config);
  return { servers, inputs: inputs ?? [] };
}

function toNamed({ servers }: Pick<ComputerConfig, "servers">): OfficeServers {
  return { servers, writtenNames: new Map(), warnings: [] };
}

/** From 0.3 on, the identity of a server takes the place of its name. */
function toIdentified({ servers }: Pick<ComputerConfig, "servers">): OfficeServers {
  const { byId, leftOut } = identifyServers(servers);
  return {
    servers: [...byId].map(([id, server]) => ({ ...server, name: id })),
    writtenNames: new Map([...byId].map(([id, { name }]) => [id, name])),
    warnings: leftOut.map(({ server, reason }) => `server "${server.name}" ${reason}`),
  };
}
