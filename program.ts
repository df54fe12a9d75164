/**
 * What a program of this project is made of: its options, its exit codes, its port for MCP clients. `@a2c-smcp/documents`
 * reaches it by this name, at exactly this version. Unstable: anything here can change or go in any release, so nobody
 * else should import it.
 *
 * @module
 */
export {
  admissionOf,
  declareHttp,
  type HttpOptions,
  type HttpPlace,
  listenOnHttp,
} from "./src/cli/http_service.ts";
export {
  collect,
  loggerOf,
  type LogOptions,
  parseMilliseconds,
  sizeOf,
  wholeNumber,
} from "./src/cli/options.ts";
export { UsageError } from "./src/cli/outcome.ts";
export { runLaunched } from "./src/cli/other_program.ts";
export { createProgram, helpPart, runProgram } from "./src/cli/program.ts";
export type { AskedHeaders, AskedRequest } from "./src/http/headers.ts";
export type { Access, AccessRule } from "./src/http/mcp/access.ts";
export {
  type AdmissionOptions,
  Entrance,
  type EntranceOptions,
  type HttpHandler,
} from "./src/http/mcp/entrance.ts";
