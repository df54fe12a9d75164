/** Offices and their members (`data-structures.md`, 房间管理结构). */
import type { AgentCallData } from "./call.ts";

/** What a member of an office is. */
export type Role = "computer" | "agent";

/** `server:join_office`. */
export interface EnterOfficeReq {
  role: Role;
  /** Unique per office and role; 1–128 characters, no control characters. */
  name: string;
  /** 1–128 characters, no control characters. */
  office_id: string;
}

/** `server:leave_office`. */
export interface LeaveOfficeReq {
  office_id: string;
}

/** `notify:enter_office`: exactly one of `computer` and `agent` is there. */
export interface EnterOfficeNotification {
  office_id: string;
  computer?: string | null;
  agent?: string | null;
}

/** `notify:leave_office`: exactly one of `computer` and `agent` is there. */
export interface LeaveOfficeNotification {
  office_id: string;
  computer?: string | null;
  agent?: string | null;
}

/** `server:list_room`. */
export interface ListRoomReq extends AgentCallData {
  office_id: string;
}

/** One member of an office. */
export interface SessionInfo {
  sid: string;
  name: string;
  role: Role;
  office_id: string;
  /** The protocol version that the member announced; absent for 0.1-era peers. */
  a2c_version?: string;
}

/** The answer to `server:list_room`. */
export interface ListRoomRet {
  sessions: SessionInfo[];
  req_id: string;
}

/** `server:update_*` and `notify:update_*`: something of this Computer changed. */
export interface UpdateComputerConfigReq {
  computer: string;
}

/** `notify:update_config`. */
export interface UpdateMCPConfigNotification {
  computer: string;
}

/** `notify:update_tool_list`. */
export interface UpdateToolListNotification {
  computer: string;
}
