/** The file by which the programs of one user agree on who holds a seat: whoever has locked it. */
import { dirname } from "@std/path";
import { isRecord, parseJson } from "../../../json/json.ts";

export interface SeatRecord {
  /** The `session` of the connection that holds the seat, for its successor. */
  readonly session: string;
  /** Where the holder serves the others. */
  readonly socket: string;
}

const MAX_BYTES = 4_096;

/**
 * The system unlocks the file when its holder ends, however it ends. A holder that is stopped keeps the lock: the file is
 * then replaced by another one, which the successor has locked, and who has locked the old one holds nothing.
 */
export class SeatFile {
  readonly #path: string;
  #held: Deno.FsFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file at the path, whoever has locked it; `undefined` when there is none. */
  get inode(): number | undefined {
    return inodeAt(this.#path);
  }

  /** Whether this process holds the seat, and nobody has taken it meanwhile. */
  get isHeld(): boolean {
    return this.#held !== undefined && this.#held.statSync().ino === this.inode;
  }

  /** Whether another process holds the seat. */
  get isTaken(): boolean {
    try {
      using file = Deno.openSync(this.#path, { read: true });
      if (!file.tryLockSync(true)) return true;
      file.unlockSync();
    } catch {
      // There is no file.
    }
    return false;
  }

  /** Takes the seat if nobody holds it. */
  take(): boolean {
    this.#forget();
    // Somebody may have cleared the folder of what outlives programs.
    Deno.mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    return this.#lock(Deno.openSync(this.#path, { read: true, write: true, create: true, mode: 0o600 }));
  }

  /** Takes the seat from a holder that is stopped; `stopped` is the file that it has locked. */
  takeFrom(stopped: number): boolean {
    this.#forget();
    const place = { read: true, write: true, create: true, mode: 0o600 };
    const next = `${this.#path}.next`;
    const file = Deno.openSync(next, place);
    // One after another: the second finds another file at the path, and takes nothing.
    if (!file.tryLockSync(true) || file.statSync().ino !== inodeAt(next) || this.inode !== stopped) {
      file.close();
      return false;
    }
    const record = this.read();
    if (record !== undefined) writeRecord(file, record);
    Deno.renameSync(next, this.#path);
    this.#held = file;
    return true;
  }

  read(): SeatRecord | undefined {
    try {
      const text = Deno.readTextFileSync(this.#path);
      const value = text.length <= MAX_BYTES ? parseJson(text) : undefined;
      const { session, socket } = isRecord(value) ? value : {};
      return typeof session === "string" && typeof socket === "string" ? { session, socket } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Writes who holds the seat; only while this process does. */
  write(record: SeatRecord): void {
    if (this.#held !== undefined) writeRecord(this.#held, record);
  }

  /** Leaves the seat to whoever takes it next. The file stays if they are to go on with its session. */
  release({ isKept }: { readonly isKept: boolean }): void {
    if (this.isHeld && !isKept) Deno.removeSync(this.#path);
    this.#forget();
  }

  #forget(): void {
    this.#held?.close();
    this.#held = undefined;
  }

  #lock(file: Deno.FsFile): boolean {
    // Between the opening and the locking, another process may have replaced or removed the file.
    if (file.tryLockSync(true) && file.statSync().ino === this.inode) {
      this.#held = file;
      return true;
    }
    file.close();
    return false;
  }
}

function inodeAt(path: string): number | undefined {
  try {
    return Deno.statSync(path).ino ?? undefined;
  } catch {
    return undefined;
  }
}

function writeRecord(file: Deno.FsFile, record: SeatRecord): void {
  file.truncateSync();
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(new TextEncoder().encode(JSON.stringify(record)));
}
