/** Parsing of everything that arrives: `unknown` in, a message type out, once. Unknown keys are kept. */
import type { AgentCallData, ComputerCallData } from "./call.ts";
import type { GetComputerConfigReq, GetComputerConfigRet } from "./config.ts";
import type { GetDeskTopReq, GetDeskTopRet } from "./desktop.ts";
import type { DPEDocument, DPEElementDetail, DPEPage } from "./dpe.ts";
import { badRequest } from "./errors.ts";
import type { GetFinderReq, GetFinderRet } from "./finder.ts";
import type {
  EnterOfficeNotification,
  EnterOfficeReq,
  LeaveOfficeReq,
  ListRoomReq,
  ListRoomRet,
  UpdateComputerConfigReq,
} from "./office.ts";
import type {
  GetBlobRet,
  GetDpeReq,
  GetDpeRet,
  GetResourcesReq,
  GetResourcesRet,
  ReadResourceReq,
  ReadResourceRet,
} from "./resources.ts";
import * as config from "./schemas/config.ts";
import * as desktop from "./schemas/desktop.ts";
import * as finder from "./schemas/finder.ts";
import * as office from "./schemas/office.ts";
import * as resources from "./schemas/resources.ts";
import * as tools from "./schemas/tools.ts";
import type { CallToolResult, GetToolsReq, GetToolsRet, ToolCallReq } from "./tools.ts";

/** Reads a message, or throws a 400 {@linkcode SmcpError} whose `details.field` says where it is wrong. */
export type Parser<T> = (message: unknown) => T;

/** What this module needs of a schema. */
interface Schema<T> {
  safeParse(message: unknown): { success: true; data: T } | { success: false; error: SchemaError };
}

interface SchemaError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

function parser<T>(what: string, schema: Schema<T>): Parser<T> {
  return (message) => {
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const field = issue?.path.map(String).join(".") || what;
    throw badRequest(field, `Cannot read ${what} field "${field}": ${issue?.message ?? "malformed"}`);
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
export const parseListRoomRet: Parser<ListRoomRet> = parser("ListRoomRet", office.listRoomRet);
export const parseUpdateComputerConfigReq: Parser<UpdateComputerConfigReq> = parser(
  "UpdateComputerConfigReq",
  office.updateComputerConfigReq,
);

export const parseToolCallReq: Parser<ToolCallReq> = parser("ToolCallReq", tools.toolCallReq);
export const parseCallToolResult: Parser<CallToolResult> = parser("CallToolResult", tools.callToolResult);
export const parseGetToolsReq: Parser<GetToolsReq> = parser("GetToolsReq", tools.getToolsReq);
export const parseGetToolsRet: Parser<GetToolsRet> = parser("GetToolsRet", tools.getToolsRet);

export const parseGetComputerConfigReq: Parser<GetComputerConfigReq> = parser(
  "GetComputerConfigReq",
  config.getComputerConfigReq,
);
export const parseGetComputerConfigRet: Parser<GetComputerConfigRet> = parser(
  "GetComputerConfigRet",
  config.getComputerConfigRet,
);

export const parseGetDeskTopReq: Parser<GetDeskTopReq> = parser("GetDeskTopReq", desktop.getDeskTopReq);
export const parseGetDeskTopRet: Parser<GetDeskTopRet> = parser("GetDeskTopRet", desktop.getDeskTopRet);
export const parseGetFinderReq: Parser<GetFinderReq> = parser("GetFinderReq", finder.getFinderReq);
export const parseGetFinderRet: Parser<GetFinderRet> = parser("GetFinderRet", finder.getFinderRet);

/** Level 1 of a `dpe://` document. */
export const parseDpeDocument: Parser<DPEDocument> = parser("document", finder.dpeDocument);
/** Level 2. */
export const parseDpePage: Parser<DPEPage> = parser("page", finder.dpePage);
/** Level 3. */
export const parseDpeElement: Parser<DPEElementDetail> = parser("element", finder.dpeElement);

export const parseReadResourceReq: Parser<ReadResourceReq> = parser(
  "ReadResourceReq",
  resources.readResourceReq,
);
export const parseReadResourceRet: Parser<ReadResourceRet> = parser(
  "ReadResourceResult",
  resources.readResourceRet,
);
export const parseGetResourcesReq: Parser<GetResourcesReq> = parser(
  "GetResourcesReq",
  resources.getResourcesReq,
);
export const parseGetResourcesRet: Parser<GetResourcesRet> = parser(
  "GetResourcesRet",
  resources.getResourcesRet,
);
export const parseGetDpeReq: Parser<GetDpeReq> = parser("GetDpeReq", resources.getDpeReq);
export const parseGetDpeRet: Parser<GetDpeRet> = parser("GetDpeRet", resources.getDpeRet);
export const parseGetBlobRet: Parser<GetBlobRet> = parser("GetBlobRet", resources.getBlobRet);
