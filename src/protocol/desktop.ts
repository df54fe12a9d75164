/** The Desktop's messages (`data-structures.md`, Desktop 相关结构; `desktop.md`). */
import type { AgentCallData } from "./call.ts";

/** One window as an Agent reads it: `{URI}\n\n{text}`, or the URI alone when there is no text. */
export type Desktop = string;

/** `client:get_desktop`. */
export interface GetDeskTopReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** At most so many windows; none at 0 and below; all when absent. */
  desktop_size?: number;
  /** Only the window with this URI. */
  window?: string;
}

/** The answer to `client:get_desktop`. */
export interface GetDeskTopRet {
  /** The windows in the order of the Desktop. */
  desktops?: Desktop[];
  /** The id of the request that this answers. */
  req_id?: string;
}
