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
import { readRegularFile } from "../../files/files.ts";
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
  const { path, none = "", isUnexpected } = await fileOf(options, { needsCredentials: auth !== undefined });
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
async function fileOf(
  { machines: given, port, redisUrl }: OptionValues,
  { needsCredentials }: { readonly needsCredentials: boolean },
): Promise<{ readonly path?: string; readonly none?: string; readonly isUnexpected?: boolean }> {
  if (given === NONE) return { none: "it has --machines none" };
  if (redisUrl !== undefined && given !== undefined) {
    throw new UsageError(
      "Cannot use --machines with --redis: each process would know other machines. Give each machine a token of a " +
        "--token-file, or run one Server without --redis",
    );
  }
  if (given !== undefined) return { path: given };
  if (!needsCredentials) return { none: "its clients need no credentials" };
  if (redisUrl !== undefined) return await withoutFile(port);
  if (port === 0) return { none: "it has no fixed port; give --port or --machines" };
  const folder = stateFolder();
  if (folder === undefined) return { none: "no state folder; give --machines FILE", isUnexpected: true };
  const path = stateFile(`machines-${port}.json`);
  if (path !== undefined && permitted("read", path) && mayKeep(path)) return { path };
  return { none: `cannot write to the state folder "${folder}"; give --machines FILE`, isUnexpected: true };
}

/** Why a Server that shares its offices has no file; machines that have joined it before then are refused. */
async function withoutFile(
  port: number,
): Promise<{ readonly none: string; readonly isUnexpected?: boolean }> {
  const none = "it shares its offices by --redis (A2C_REDIS_URL)";
  const path = stateFile(`machines-${port}.json`);
  const length = path === undefined ? 0 : await countMachines(path);
  if (length === 0) return { none };
  const refused = length === 1 ? "1 machine that has joined" : `${length} machines that have joined`;
  const what = "give each a token of a --token-file, or run one Server without --redis";
  return { none: `${none}, and refuses ${refused} it before (${path}): ${what}`, isUnexpected: true };
}

/** How many machines a file has; a damaged one counts for none. */
async function countMachines(path: string): Promise<number> {
  if (!permitted("read", path)) return 0;
  const { MAX_LIST_BYTES, readMachineList } = await import("../../server/admission/machine_list.ts");
  const read = await readRegularFile(path, { maxBytes: MAX_LIST_BYTES });
  try {
    return "text" in read ? readMachineList(read.text).length : 0;
  } catch {
    return 0;
  }
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
