import { interopSkipReason } from "../peer.ts";
import { sdkNamed } from "./cells.ts";
import { testCells } from "./run_cells.ts";

testCells(sdkNamed("Python 0.4.2"), interopSkipReason());
