/** What the protocol version means for a configuration: members without effect, and servers that it leaves out. */
import { DEFAULT_PROTOCOL, isFrom, type ProtocolMinor } from "../protocol/version.ts";
import { identifyServers } from "./bundle_id.ts";
import type { ConfigIssue } from "./problem.ts";
import type { ConfigReading } from "./reading.ts";

/** Finds them; `chosen` is the version of the command line, which overrides that of the configuration. */
export function versionFindings(
  { servers, settings }: Pick<ConfigReading, "servers" | "settings">,
  chosen: ProtocolMinor | undefined,
): ConfigIssue[] {
  const protocol = chosen ?? settings.protocolVersion ?? DEFAULT_PROTOCOL;
  const findings: ConfigIssue[] = [];
  if (settings.uploads !== undefined && !isFrom(protocol, "0.4")) {
    findings.push({ path: ["uploads"], message: withoutEffect(protocol, "0.4") });
  }
  if (!isFrom(protocol, "0.3")) {
    for (const { path, value } of servers) {
      if (typeof value.bundle_id !== "string") continue;
      findings.push({ path: [...path, "bundle_id"], message: withoutEffect(protocol, "0.3") });
    }
    return findings;
  }
  const { leftOut } = identifyServers(servers.map(({ value }) => value));
  for (const { server, reason } of leftOut) {
    const path = servers.find(({ value }) => value === server)?.path ?? [];
    findings.push({ path, message: reason });
  }
  return findings;
}

function withoutEffect(protocol: ProtocolMinor, first: ProtocolMinor): string {
  return `has no effect at protocol ${protocol}; write "protocol_version": "${first}" or a later one`;
}
