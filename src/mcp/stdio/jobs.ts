/**
 * Job objects of Windows, by which a process ends with all its descendants. The system ends them when the process that holds
 * the job ends, however that ends. As a program, it writes a line when it is ready, reads `add PID` and `del PID`, and ends
 * with its input.
 *
 * It imports nothing, so that Deno can run it from wherever this package is.
 */

const FUNCTIONS = {
  CreateJobObjectW: { parameters: ["pointer", "pointer"], result: "pointer" },
  SetInformationJobObject: { parameters: ["pointer", "i32", "buffer", "u32"], result: "i32" },
  OpenProcess: { parameters: ["u32", "i32", "u32"], result: "pointer" },
  AssignProcessToJobObject: { parameters: ["pointer", "pointer"], result: "i32" },
  GetProcessTimes: { parameters: ["pointer", "buffer", "buffer", "buffer", "buffer"], result: "i32" },
  CreateToolhelp32Snapshot: { parameters: ["u32", "u32"], result: "pointer" },
  Process32FirstW: { parameters: ["pointer", "buffer"], result: "i32" },
  Process32NextW: { parameters: ["pointer", "buffer"], result: "i32" },
  CloseHandle: { parameters: ["pointer"], result: "i32" },
} as const;

/** `JobObjectExtendedLimitInformation`, its size in bytes, the place of its flags, and the flag: kill when the job closes. */
const LIMITS = { kind: 9, bytes: 144, flagsAt: 16, killOnClose: 0x2000 };
/** `PROCESS_TERMINATE`, `PROCESS_SET_QUOTA` and `PROCESS_QUERY_LIMITED_INFORMATION`. */
const ACCESS = 0x1101;
/** `TH32CS_SNAPPROCESS`; the size of `PROCESSENTRY32W` in bytes, and the places of its ids. */
const SNAPSHOT = { kind: 2, bytes: 568, idAt: 8, parentAt: 32 };
/** How often to look for descendants: one may start another before it is in the job. */
const ROUNDS = 3;

/** The jobs of processes, by their ids. Needs `--allow-ffi`. */
export class Jobs implements Disposable {
  readonly #kernel = Deno.dlopen("kernel32.dll", FUNCTIONS);
  readonly #jobs = new Map<number, Deno.PointerValue>();

  /** Puts a process into a job of its own, with all that it has started and will start. One that has ended needs none. */
  add(pid: number): void {
    if (this.#jobs.has(pid)) return;
    const { CreateJobObjectW, SetInformationJobObject } = this.#kernel.symbols;
    const job = CreateJobObjectW(null, null);
    this.#jobs.set(pid, job);
    const limits = new Uint8Array(LIMITS.bytes);
    new DataView(limits.buffer).setUint32(LIMITS.flagsAt, LIMITS.killOnClose, true);
    SetInformationJobObject(job, LIMITS.kind, limits, limits.length);
    this.#assign(job, pid);
    for (let round = 0; round < ROUNDS; round++) {
      for (const each of this.#descendants(pid)) this.#assign(job, each);
    }
  }

  /** Ends what is left of the job of a process. */
  remove(pid: number): void {
    this.#kernel.symbols.CloseHandle(this.#jobs.get(pid) ?? null);
    this.#jobs.delete(pid);
  }

  #assign(job: Deno.PointerValue, pid: number): void {
    this.#withProcess(pid, (process) => this.#kernel.symbols.AssignProcessToJobObject(job, process));
  }

  #withProcess<T>(pid: number, work: (process: Deno.PointerObject) => T): T | undefined {
    const { OpenProcess, CloseHandle } = this.#kernel.symbols;
    const process = OpenProcess(ACCESS, 0, pid);
    if (process === null) return undefined;
    try {
      return work(process);
    } finally {
      CloseHandle(process);
    }
  }

  /** What a process and its descendants have started, and still runs. */
  #descendants(pid: number): number[] {
    const parents = this.#parents();
    const below = (parent: number): number[] =>
      parents.filter(([child, of]) => of === parent && this.#startOf(child) >= this.#startOf(parent))
        .flatMap(([child]) => [child, ...below(child)]);
    return below(pid);
  }

  /** When a process started; an id of a parent that has ended may belong to a younger process. */
  #startOf(pid: number): bigint {
    const start = new BigUint64Array(1);
    const other = new BigUint64Array(1);
    this.#withProcess(
      pid,
      (process) => this.#kernel.symbols.GetProcessTimes(process, start, other, other, other),
    );
    return start[0] ?? 0n;
  }

  /** Each process with its parent. */
  #parents(): (readonly [pid: number, parent: number])[] {
    const { CreateToolhelp32Snapshot, Process32FirstW, Process32NextW, CloseHandle } = this.#kernel.symbols;
    const snapshot = CreateToolhelp32Snapshot(SNAPSHOT.kind, 0);
    const entry = new DataView(new ArrayBuffer(SNAPSHOT.bytes));
    entry.setUint32(0, SNAPSHOT.bytes, true);
    const room = new Uint8Array(entry.buffer);
    const found: (readonly [number, number])[] = [];
    for (
      let isMore = Process32FirstW(snapshot, room);
      isMore !== 0;
      isMore = Process32NextW(snapshot, room)
    ) {
      found.push([entry.getUint32(SNAPSHOT.idAt, true), entry.getUint32(SNAPSHOT.parentAt, true)]);
    }
    CloseHandle(snapshot);
    return found;
  }

  [Symbol.dispose](): void {
    for (const pid of [...this.#jobs.keys()]) this.remove(pid);
    this.#kernel.close();
  }
}

if (import.meta.main) {
  const jobs = new Jobs();
  console.log("ready");
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [verb, pid] = line.split(" ");
      if (verb === "add") jobs.add(Number(pid));
      if (verb === "del") jobs.remove(Number(pid));
    }
  }
  // The system closes the jobs.
  Deno.exit();
}
