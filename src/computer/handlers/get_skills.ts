/** `client:get_skills` and `client:get_skill`, of newer peers: a Computer without skills has an empty list of them. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { parseAgentCallData } from "../../protocol/parse.ts";

export function handleGetSkills(body: unknown): { skills: readonly never[]; req_id: string } {
  return { skills: [], req_id: parseAgentCallData(body).req_id };
}

export function handleGetSkill(body: unknown): never {
  parseAgentCallData(body);
  throw new SmcpError(ErrorCode.MCP_SERVER_NOT_FOUND, "Skill does not exist: this Computer has no skills");
}
