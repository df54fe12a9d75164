/** Parses requests and notifications. Unknown keys are kept. */
import type { AgentCallData, ComputerCallData } from "./call.ts";
import type { GetComputerConfigReq } from "./config.ts";
import type { GetDeskTopReq } from "./desktop.ts";
import type { GetFinderReq } from "./finder.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  UpdateComputerConfigReq,
} from "./office.ts";
import type { FollowCallReq, UpdateProgressReq } from "./progress.ts";
import type { GetBlobReq, GetDpeReq, GetResourcesReq, ReadResourceReq } from "./resources.ts";
import type { GetCompletionReq, GetResourceTemplatesReq } from "./resource_templates.ts";
import type { AnswerInputReq, OpenInputReq } from "./questions.ts";
import type { GetResourceUpdatesReq, SubscribeResourceReq } from "./resource_updates.ts";
import type { GetMcpServersReq } from "./mcp_servers.ts";
import type { GetPromptReq, GetPromptsReq } from "./prompts.ts";
import { type Parser, parserOf } from "./schema.ts";
import * as config from "./schemas/config.ts";
import * as desktop from "./schemas/office.ts";
import * as finder from "./schemas/finder.ts";
import * as office from "./schemas/office.ts";
import * as prompts from "./schemas/prompts.ts";
import * as questions from "./schemas/questions.ts";
import * as resources from "./schemas/resources.ts";
import * as tools from "./schemas/tools.ts";
import type { GetSkillReq } from "./skills.ts";
import type { GetToolsReq, ToolCallReq } from "./tools.ts";

export const parseAgentCallData: Parser<AgentCallData> = parserOf("AgentCallData", office.agentCallData);
export const parseComputerCallData: Parser<ComputerCallData> = parserOf("request", office.computerCallData);
export const parseEnterOfficeReq: Parser<EnterOfficeReq> = parserOf("EnterOfficeReq", office.enterOfficeReq);
export const parseLeaveOfficeReq: Parser<LeaveOfficeReq> = parserOf("LeaveOfficeReq", office.leaveOfficeReq);
export const parseOfficeNotification: Parser<EnterOfficeNotification> = parserOf(
  "EnterOfficeNotification",
  office.officeNotification,
);
export const parseListRoomReq: Parser<ListRoomReq> = parserOf("ListRoomReq", office.listRoomReq);
export const parseUpdateComputerConfigReq: Parser<UpdateComputerConfigReq> = parserOf(
  "UpdateComputerConfigReq",
  office.updateComputerConfigReq,
);
export const parseUpdateProgressReq: Parser<UpdateProgressReq> = parserOf(
  "UpdateProgressReq",
  office.updateProgressReq,
);

export const parseFollowCallReq: Parser<FollowCallReq> = parserOf("FollowCallReq", office.followCallReq);
export const parseToolCallReq: Parser<ToolCallReq> = parserOf("ToolCallReq", tools.toolCallReq);
export const parseGetToolsReq: Parser<GetToolsReq> = parserOf("GetToolsReq", tools.getToolsReq);

export const parseGetComputerConfigReq: Parser<GetComputerConfigReq> = parserOf(
  "GetComputerConfigReq",
  config.getComputerConfigReq,
);

export const parseGetDeskTopReq: Parser<GetDeskTopReq> = parserOf("GetDeskTopReq", desktop.getDeskTopReq);
export const parseGetFinderReq: Parser<GetFinderReq> = parserOf("GetFinderReq", finder.getFinderReq);

export const parseReadResourceReq: Parser<ReadResourceReq> = parserOf(
  "ReadResourceReq",
  resources.readResourceReq,
);
export const parseGetResourcesReq: Parser<GetResourcesReq> = parserOf(
  "GetResourcesReq",
  resources.getResourcesReq,
);
export const parseGetBlobReq: Parser<GetBlobReq> = parserOf("GetBlobReq", resources.getBlobReq);
export const parseGetSkillReq: Parser<GetSkillReq> = parserOf("GetSkillReq", resources.getSkillReq);
export const parseGetDpeReq: Parser<GetDpeReq> = parserOf("GetDpeReq", resources.getDpeReq);

export const parseGetResourceTemplatesReq: Parser<GetResourceTemplatesReq> = parserOf(
  "GetResourceTemplatesReq",
  resources.getResourceTemplatesReq,
);
export const parseGetCompletionReq: Parser<GetCompletionReq> = parserOf(
  "GetCompletionReq",
  resources.getCompletionReq,
);
export const parseSubscribeResourceReq: Parser<SubscribeResourceReq> = parserOf(
  "SubscribeResourceReq",
  resources.subscribeResourceReq,
);
export const parseGetResourceUpdatesReq: Parser<GetResourceUpdatesReq> = parserOf(
  "GetResourceUpdatesReq",
  resources.getResourceUpdatesReq,
);

export const parseGetMcpServersReq: Parser<GetMcpServersReq> = parserOf(
  "GetMcpServersReq",
  prompts.getMcpServersReq,
);
export const parseGetPromptsReq: Parser<GetPromptsReq> = parserOf("GetPromptsReq", prompts.getPromptsReq);
export const parseGetPromptReq: Parser<GetPromptReq> = parserOf("GetPromptReq", prompts.getPromptReq);
export const parseOpenInputReq: Parser<OpenInputReq> = parserOf("OpenInputReq", questions.openInputReq);
export const parseAnswerInputReq: Parser<AnswerInputReq> = parserOf(
  "AnswerInputReq",
  questions.answerInputReq,
);
