/** Parsing of requests and notifications: `unknown` in, a message type out, once. Unknown keys are kept. */
import type { AgentCallData, ComputerCallData } from "./call.ts";
import type { GetComputerConfigReq } from "./config.ts";
import type { GetDeskTopReq } from "./desktop.ts";
import { badRequest } from "./errors.ts";
import type { GetFinderReq } from "./finder.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  UpdateComputerConfigReq,
} from "./office.ts";
import type { GetBlobReq, GetDpeReq, GetResourcesReq, ReadResourceReq } from "./resources.ts";
import type { GetCompletionReq, GetResourceTemplatesReq } from "./resource_templates.ts";
import type { GetResourceUpdatesReq, SubscribeResourceReq } from "./resource_updates.ts";
import { firstIssue, type Schema } from "./schema.ts";
import * as config from "./schemas/config.ts";
import * as desktop from "./schemas/desktop.ts";
import * as finder from "./schemas/finder.ts";
import * as office from "./schemas/office.ts";
import * as resources from "./schemas/resources.ts";
import * as tools from "./schemas/tools.ts";
import type { GetToolsReq, ToolCallReq } from "./tools.ts";

/** Reads a message, or throws a 400 {@linkcode SmcpError} whose `details.field` says where it is wrong. */
export type Parser<T> = (message: unknown) => T;

function parser<T>(what: string, schema: Schema<T>): Parser<T> {
  return (message) => {
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
    const { field = what, why } = firstIssue(parsed.error);
    throw badRequest(field, `Cannot read ${what} field "${field}": ${why}`);
  };
}

export const parseAgentCallData: Parser<AgentCallData> = parser("AgentCallData", office.agentCallData);
export const parseComputerCallData: Parser<ComputerCallData> = parser("request", office.computerCallData);
export const parseEnterOfficeReq: Parser<EnterOfficeReq> = parser("EnterOfficeReq", office.enterOfficeReq);
export const parseLeaveOfficeReq: Parser<LeaveOfficeReq> = parser("LeaveOfficeReq", office.leaveOfficeReq);
export const parseOfficeNotification: Parser<EnterOfficeNotification> = parser(
  "EnterOfficeNotification",
  office.officeNotification,
);
export const parseListRoomReq: Parser<ListRoomReq> = parser("ListRoomReq", office.listRoomReq);
export const parseUpdateComputerConfigReq: Parser<UpdateComputerConfigReq> = parser(
  "UpdateComputerConfigReq",
  office.updateComputerConfigReq,
);

export const parseToolCallReq: Parser<ToolCallReq> = parser("ToolCallReq", tools.toolCallReq);
export const parseGetToolsReq: Parser<GetToolsReq> = parser("GetToolsReq", tools.getToolsReq);

export const parseGetComputerConfigReq: Parser<GetComputerConfigReq> = parser(
  "GetComputerConfigReq",
  config.getComputerConfigReq,
);

export const parseGetDeskTopReq: Parser<GetDeskTopReq> = parser("GetDeskTopReq", desktop.getDeskTopReq);
export const parseGetFinderReq: Parser<GetFinderReq> = parser("GetFinderReq", finder.getFinderReq);

export const parseReadResourceReq: Parser<ReadResourceReq> = parser(
  "ReadResourceReq",
  resources.readResourceReq,
);
export const parseGetResourcesReq: Parser<GetResourcesReq> = parser(
  "GetResourcesReq",
  resources.getResourcesReq,
);
export const parseGetBlobReq: Parser<GetBlobReq> = parser("GetBlobReq", resources.getBlobReq);
export const parseGetDpeReq: Parser<GetDpeReq> = parser("GetDpeReq", resources.getDpeReq);

export const parseGetResourceTemplatesReq: Parser<GetResourceTemplatesReq> = parser(
  "GetResourceTemplatesReq",
  resources.getResourceTemplatesReq,
);
export const parseGetCompletionReq: Parser<GetCompletionReq> = parser(
  "GetCompletionReq",
  resources.getCompletionReq,
);
export const parseSubscribeResourceReq: Parser<SubscribeResourceReq> = parser(
  "SubscribeResourceReq",
  resources.subscribeResourceReq,
);
export const parseGetResourceUpdatesReq: Parser<GetResourceUpdatesReq> = parser(
  "GetResourceUpdatesReq",
  resources.getResourceUpdatesReq,
);
