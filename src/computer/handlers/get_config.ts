/** `client:get_config`. */
import type { GetComputerConfigRet, MCPServerConfig, MCPServerInput } from "../../protocol/config.ts";
import { parseGetComputerConfigReq } from "../../protocol/parse.ts";
import type { McpHost } from "../host.ts";
import { maskConfig } from "../secrets/masking.ts";

/** A part of a configuration that can be left out by itself. */
type ConfigPart = { readonly server: readonly [string, MCPServerConfig] } | {
  readonly input: MCPServerInput;
};

/** Servers and inputs that do not fit are left out, the largest first. */
export async function handleGetConfig(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetComputerConfigRet> {
  parseGetComputerConfigReq(body);
  const { servers, inputs } = maskConfig(host.config);
  const items = [
    ...Object.entries(servers).map((server) => itemOf(server[0], { server })),
    ...(inputs ?? []).map((input) => itemOf(input.id, { input })),
  ];
  const shown = await host.fit(items, { what: "parts of the configuration", limitBytes, keeps: "most" });
  return {
    servers: Object.fromEntries(shown.flatMap((part) => "server" in part ? [part.server] : [])),
    inputs: shown.flatMap((part) => "input" in part ? [part.input] : []),
  };
}

/** Each part counts for itself. */
function itemOf(name: string, part: ConfigPart) {
  return { server: name, name, key: part, render: () => part };
}
