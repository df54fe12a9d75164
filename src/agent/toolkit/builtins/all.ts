/** The tools of gateway and toolkit themselves, for clients that know nothing but tools. */
import type { LocalTool } from "../tool_context.ts";
import type { Reach } from "./builtin.ts";
import { findDocuments } from "./find_documents.ts";
import { listComputers } from "./list_computers.ts";
import { readDocument } from "./read_document.ts";
import { viewDesktop } from "./view_desktop.ts";

export const BUILTIN_NAMES = ["list_computers", "view_desktop", "find_documents", "read_document"] as const;

export function makeBuiltins(reach: Reach): LocalTool[] {
  return [listComputers(reach), viewDesktop(reach), findDocuments(reach), readDocument(reach)];
}
