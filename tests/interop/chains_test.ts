// The chains of `tests/integration/`, with an MCP server written in Python.

import { testChainReads } from "../integration/_chain_reads.ts";
import { testChainReturns } from "../integration/_chain_returns.ts";
import { PYTHON_KIND } from "../integration/_chain_server.ts";

testChainReads(PYTHON_KIND);
testChainReturns(PYTHON_KIND);
