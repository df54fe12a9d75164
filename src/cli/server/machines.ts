/** The machines that may join a Server by code: its file of them, and the way in. */
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import type { Logger } from "../../log.ts";
import type { AuthProvider } from "../../server/admission/provider.ts";
import type { MachineJoins } from "../../server/admission/machine_joins.ts";
import type { Machines } from "../../server/admission/machines.ts";
import type { OtherPaths } from "../../server/engine/port.ts";
import { dirname } from "@std/path";
import { toUsageError } from "./credentials.ts";
import { UsageError } from "../outcome.ts";
import { permitted, stateFile, stateFolder } from "../../files/state_folder.ts";
import type { OptionValues } from "./options.ts";

/** How often an operator may type a code that is wrong. */
const WRONG_CODES = rateOf(10, 60_000);
/** The value of `--machines` for none. */
const NONE = "none";

/** What the commands of an operator need. */
export interface OperatedMachines {
  readonly machines: Machines;
  readonly joins: MachineJoins;
  readonly wrongCodes: TokenBucket;
  readonly logger: Logger;
}

export interface OpenedMachines extends AsyncDisposable {
  /** The clients of before, and machines. */
  readonly auth: AuthProvider | undefined;
  /** `undefined` where no machine may join. */
  readonly door?: OtherPaths | undefined;
  /** Why there are none, where no machine may join. */
  readonly operated: OperatedMachines | string;
}

/** @throws {UsageError} for a file that another Server uses, and for one together with shared offices. */
export async function openMachines(
  options: OptionValues,
  { auth, logger }: { readonly auth: AuthProvider | undefined; readonly logger: Logger },
): Promise<OpenedMachines> {
  const { path, none = "", isUnexpected } = fileOf(options, { needsCredentials: auth !== undefined });
  if (path === undefined) {
    if (isUnexpected) logger.warn(`takes no machines by code: ${none}`);
    return { auth, operated: none, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  // Loaded only now, so that --help and a wrong command line are fast.
  const [{ besideMachines, Machines }, { MachineJoins }, { createMachineDoor }] = await Promise.all([
    import("../../server/admission/machines.ts"),
    import("../../server/admission/machine_joins.ts"),
    import("./machine_door.ts"),
  ]);
  const machines = await Machines.open(path, { logger }).catch(async (error) => {
    throw await toUsageError(error);
  });
  const joins = new MachineJoins();
  return {
    auth: besideMachines(machines, auth),
    door: createMachineDoor({ machines, joins, logger }),
    operated: { machines, joins, wrongCodes: new TokenBucket(WRONG_CODES), logger },
    [Symbol.asyncDispose]: () => machines.close(),
  };
}

/** The file; or why there is none. A Server without credentials has no use for it, and one on any free port is another one each time. */
function fileOf(
  { machines: given, port, redisUrl }: OptionValues,
  { needsCredentials }: { readonly needsCredentials: boolean },
): { readonly path?: string; readonly none?: string; readonly isUnexpected?: boolean } {
  if (given === NONE) return { none: "it has --machines none" };
  if (redisUrl !== undefined && given !== undefined) {
    throw new UsageError(
      "Cannot use --machines with --redis: each process would know other machines. Give each machine a token of a " +
        "--token-file, or run one Server without --redis",
    );
  }
  if (given !== undefined) return { path: given };
  if (!needsCredentials) return { none: "its clients need no credentials" };
  if (redisUrl !== undefined) return { none: "it shares its offices by --redis" };
  if (port === 0) return { none: "it has no fixed port; give --port or --machines" };
  const folder = stateFolder();
  if (folder === undefined) return { none: "no state folder; give --machines FILE", isUnexpected: true };
  const path = stateFile(`machines-${port}.json`);
  if (path !== undefined && permitted("read", path) && mayKeep(path)) return { path };
  return { none: `cannot write to the state folder "${folder}"; give --machines FILE`, isUnexpected: true };
}

/** Whether files can be made in the folder of a file, which is made if it does not exist. */
function mayKeep(path: string): boolean {
  try {
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // The lock, which the file needs anyway.
    Deno.openSync(`${path}.lock`, { write: true, create: true, mode: 0o600 }).close();
    return true;
  } catch {
    return false;
  }
}
