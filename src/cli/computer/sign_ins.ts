/** The sign-ins of a Computer of the command line, whether it runs or not. */
import type { InputSource } from "../../computer/inputs/sources.ts";
import { type ComputerSignIns, openSignIns } from "../../computer/sign_ins.ts";
import { MASK } from "../../computer/secrets/masking.ts";
import { withModule } from "../../log.ts";
import type {
  IdentityProviderSettings,
  MCPServerConfig,
  NetworkMCPServerConfig,
} from "../../protocol/config.ts";
import type { HostedComputer } from "./hosted_computer.ts";

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
  const servers = config.servers.map(withoutSecrets);
  return openSignIns({ config: { ...config, servers }, inputs, tokens, log: withModule(logger, "mcp") });
}

/** What is known of a sign-in does not depend on these members, for whose secrets a person would be asked. */
function withoutSecrets(server: MCPServerConfig): MCPServerConfig {
  switch (server.type) {
    case "stdio":
      return server;
    case "streamable": {
      const server_parameters = { ...server.server_parameters, headers: null };
      return { ...server, server_parameters, oauth: maskOAuth(server.oauth) };
    }
    case "sse": {
      const server_parameters = { ...server.server_parameters, headers: null };
      return { ...server, server_parameters, oauth: maskOAuth(server.oauth) };
    }
  }
}

function maskOAuth(oauth: NetworkMCPServerConfig["oauth"]): NetworkMCPServerConfig["oauth"] {
  if (typeof oauth !== "object" || oauth === null) return oauth;
  const { clientSecret, privateKey, assertion, identityProvider } = oauth;
  return {
    ...oauth,
    ...masked({ clientSecret, privateKey, assertion }),
    ...(identityProvider ? { identityProvider: maskProvider(identityProvider) } : {}),
  };
}

function maskProvider(provider: IdentityProviderSettings): IdentityProviderSettings {
  const { clientSecret, idToken } = provider;
  return { ...provider, ...masked({ clientSecret, idToken }) };
}

/** The members that have a value, masked. */
function masked(members: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => value ? [[name, MASK]] : []));
}
