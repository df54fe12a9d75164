/** Where the reason of a failure stands that says too little by itself. */
import { ServerAnswerError } from "../mcp/errors.ts";

/** JSON-RPC's code for what the author of a server did not foresee: its message seldom says more. */
const RPC_INTERNAL_ERROR = -32603;

/** The command of the Computer that shows what the server wrote; `undefined` where the failure speaks for itself. */
export function logCommandFor(error: unknown, server: string): string | undefined {
  const isUnforeseen = error instanceof ServerAnswerError && error.rpcCode === RPC_INTERNAL_ERROR;
  return isUnforeseen ? `server logs ${server}` : undefined;
}
