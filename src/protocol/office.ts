/** Offices and their members (`docs/protocol/data-structures.md#offices`). */
import type { AgentCallData } from "./call.ts";

/** What a member of an office is. */
export type Role = "computer" | "agent";

/** `server:join_office`. */
export interface EnterOfficeReq {
  /** What it is. */
  role: Role;
  /** Unique per office and role; 1–128 visible characters in normalization form C, no spaces at the ends. */
  name: string;
  /** As a name. */
  office_id: string;
}

/** `server:leave_office`. */
export interface LeaveOfficeReq {
  /** The office. */
  office_id: string;
}

/** `notify:enter_office`: exactly one of `computer` and `agent` is there. */
export interface EnterOfficeNotification {
  /** The office. */
  office_id: string;
  /** The Computer that came. */
  computer?: string | null;
  /** The Agent that came. */
  agent?: string | null;
}

/** `notify:leave_office`: exactly one of `computer` and `agent` is there. */
export interface LeaveOfficeNotification {
  /** The office. */
  office_id: string;
  /** The Computer that left. */
  computer?: string | null;
  /** The Agent that left. */
  agent?: string | null;
}

/** `server:list_room`. */
export interface ListRoomReq extends AgentCallData {
  /** The office. */
  office_id: string;
}

/** One member of an office. */
export interface SessionInfo {
  /** The id of its connection. */
  sid: string;
  /** What it is called. */
  name: string;
  /** What it is. */
  role: Role;
  /** The office. */
  office_id: string;
  /** The protocol version that the member announced; absent for 0.1-era peers. */
  a2c_version?: string;
}

/** The answer to `server:list_room`. */
export interface ListRoomRet {
  /** All members, both roles. */
  sessions: SessionInfo[];
  /** The id of the request that this answers. */
  req_id: string;
}

/** `server:update_*` and `notify:update_*`: something of this Computer changed. */
export interface UpdateComputerConfigReq {
  /** The Computer that changed. */
  computer: string;
}

/** `notify:update_config`. */
export interface UpdateMCPConfigNotification {
  /** The Computer that changed. */
  computer: string;
}

/** `notify:update_tool_list`. */
export interface UpdateToolListNotification {
  /** The Computer that changed. */
  computer: string;
}
