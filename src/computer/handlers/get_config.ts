/** `client:get_config`. */
import type { GetComputerConfigRet } from "../../protocol/config.ts";
import { parseGetComputerConfigReq } from "../../protocol/parse.ts";
import type { McpHost } from "../host.ts";
import { maskConfig } from "../masking.ts";

export function handleGetConfig(host: McpHost, body: unknown): GetComputerConfigRet {
  parseGetComputerConfigReq(body);
  return maskConfig(host.config);
}
