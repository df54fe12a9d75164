/** The sign-ins of a Computer of the command line, whether it runs or not. */
import type { InputSource } from "../../computer/inputs/sources.ts";
import { type ComputerSignIns, openSignIns } from "../../computer/sign_ins.ts";
import { withModule } from "../../log.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import type { HostedComputer } from "./hosted_computer.ts";

/** The sign-ins at the MCP servers of the configuration. */
export function signInsOf(hosted: HostedComputer): ComputerSignIns {
  if (hosted.isStarted) return hosted.computer.signIns;
  const { tokens, logger, inputs } = hosted.options;
  const { config } = hosted.store;
  return openSignIns({ config, inputs: inputs.source, tokens, log: withModule(logger, "mcp") });
}

/** The same for a look at what is known: nobody is asked for an input. */
export function knownSignInsOf(hosted: HostedComputer): ComputerSignIns {
  const { tokens, logger } = hosted.options;
  const { config } = hosted.store;
  const inputs: InputSource = (_id, { input }) => hosted.peekInput(input);
  const servers = config.servers.map(withoutHeaders);
  return openSignIns({ config: { ...config, servers }, inputs, tokens, log: withModule(logger, "mcp") });
}

/** What is known of a sign-in does not depend on headers, which often have secrets that a person is asked for. */
function withoutHeaders(server: MCPServerConfig): MCPServerConfig {
  switch (server.type) {
    case "stdio":
      return server;
    case "streamable":
      return { ...server, server_parameters: { ...server.server_parameters, headers: null } };
    case "sse":
      return { ...server, server_parameters: { ...server.server_parameters, headers: null } };
  }
}
