import { interopSkipReason } from "../peer.ts";
import { rustSkipReason } from "../rust_peer.ts";
import { sdkNamed } from "./cells.ts";
import { testCells } from "./run_cells.ts";

// The MCP servers of each cell are those of the Python drivers.
testCells(sdkNamed("Rust 0.4.1"), rustSkipReason() ?? interopSkipReason());
