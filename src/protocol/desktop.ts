/** The Desktop's messages (`data-structures.md`, Desktop 相关结构; `desktop.md`). */
import type { AgentCallData } from "./call.ts";

/** One window as an Agent reads it: `{URI}\n\n{text}`, or the URI alone when there is no text. */
export type Desktop = string;

/** `client:get_desktop`. */
export interface GetDeskTopReq extends AgentCallData {
  computer: string;
  /** At most so many windows; none at 0 and below; all when absent. */
  desktop_size?: number;
  /** Only the window with this URI. */
  window?: string;
}

/** The answer to `client:get_desktop`. */
export interface GetDeskTopRet {
  desktops?: Desktop[];
  req_id?: string;
}
