/** Offices and their members (`docs/protocol/data-structures.md#offices`). */
import type { AgentCallData } from "./call.ts";

/** The role of a member of an office. */
export type Role = "computer" | "agent";

/** `server:join_office`. */
export interface EnterOfficeReq {
  /** The role of the member. */
  role: Role;
  /** Unique per office and role; 1–128 visible characters in normalization form KC, without outer spaces. */
  name: string;
  /** The id of the office, with the same rules as `name`. */
  office_id: string;
}

/** `server:leave_office`. */
export interface LeaveOfficeReq {
  /** The id of the office. */
  office_id: string;
}

/** `notify:enter_office`: it has exactly one of `computer` and `agent`. */
export interface EnterOfficeNotification {
  /** The id of the office. */
  office_id: string;
  /** The name of the Computer that joined. */
  computer?: string | null;
  /** The name of the Agent that joined. */
  agent?: string | null;
}

/** `notify:leave_office`: it has exactly one of `computer` and `agent`. */
export interface LeaveOfficeNotification {
  /** The id of the office. */
  office_id: string;
  /** The name of the Computer that left. */
  computer?: string | null;
  /** The name of the Agent that left. */
  agent?: string | null;
}

/** `server:list_room`. */
export interface ListRoomReq extends AgentCallData {
  /** The id of the office. */
  office_id: string;
}

/** One member of an office. */
export interface SessionInfo {
  /** The id of the member's connection. */
  sid: string;
  /** The name. */
  name: string;
  /** The role of the member. */
  role: Role;
  /** The id of the office. */
  office_id: string;
  /** The protocol version that the member announced; absent for peers of version 0.1. */
  a2c_version?: string;
}

/** The answer to `server:list_room`. */
export interface ListRoomRet {
  /** All members of both roles. */
  sessions: SessionInfo[];
  /** The id of the request. */
  req_id: string;
}

/** The body of `server:update_*` and `notify:update_*`. */
export interface UpdateComputerConfigReq {
  /** The name of the Computer that changed. */
  computer: string;
}

/** `notify:update_config`. */
export interface UpdateMCPConfigNotification {
  /** The name of the Computer that changed. */
  computer: string;
}

/** `notify:update_tool_list`. */
export interface UpdateToolListNotification {
  /** The name of the Computer that changed. */
  computer: string;
}
