/**
 * The project's own lint rules, for what style and layout ask and no built-in rule sees. A plugin is shown one file
 * at a time, so cycles between modules are looked for in `tests/architecture_test.ts`.
 *
 * @module
 */

import { bareError } from "./bare_error.ts";
import { denoGlobal } from "./deno_global.ts";
import { enums } from "./enums.ts";
import { errorMessage } from "./error_message.ts";
import { exportStar } from "./export_star.ts";
import { importDirection } from "./import_direction.ts";
import { logMessage } from "./log_message.ts";
import { thirdParty } from "./third_party.ts";

const plugin: Deno.lint.Plugin = {
  name: "smcp",
  rules: {
    "bare-error": bareError,
    "deno-global": denoGlobal,
    "enum": enums,
    "error-message": errorMessage,
    "export-star": exportStar,
    "import-direction": importDirection,
    "log-message": logMessage,
    "third-party": thirdParty,
  },
};

export default plugin;
