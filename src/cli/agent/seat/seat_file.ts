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
const isWindows = Deno.build.os === "windows";

/**
 * The system unlocks the file when its holder ends, however it ends. On Windows, no other program can read what a holder
 * has locked: who holds the seat stands in a second file.
 */
export class SeatFile {
  readonly #path: string;
  #held: Deno.FsFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether this process holds the seat. */
  get isHeld(): boolean {
    return this.#held !== undefined && this.#isInPlace(this.#held);
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

  read(): SeatRecord | undefined {
    try {
      const text = Deno.readTextFileSync(isWindows ? this.#recordPath : this.#path);
      const value = text.length <= MAX_BYTES ? parseJson(text) : undefined;
      const { session, socket } = isRecord(value) ? value : {};
      return typeof session === "string" && typeof socket === "string" ? { session, socket } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Writes who holds the seat; only while this process does. */
  write(record: SeatRecord): void {
    if (this.#held === undefined) return;
    const text = JSON.stringify(record);
    if (isWindows) return Deno.writeTextFileSync(this.#recordPath, text);
    this.#held.truncateSync();
    this.#held.seekSync(0, Deno.SeekMode.Start);
    this.#held.writeSync(new TextEncoder().encode(text));
  }

  /** Leaves the seat to whoever takes it next. The file stays if they are to go on with its session. */
  release({ isKept }: { readonly isKept: boolean }): void {
    if (this.isHeld && !isKept) {
      if (isWindows) Deno.removeSync(this.#recordPath);
      Deno.removeSync(this.#path);
    }
    this.#forget();
  }

  get #recordPath(): string {
    return `${this.#path}.holder`;
  }

  #forget(): void {
    this.#held?.close();
    this.#held = undefined;
  }

  #lock(file: Deno.FsFile): boolean {
    // Between the opening and the locking, another process may have removed the file.
    if (file.tryLockSync(true) && this.#isInPlace(file)) {
      this.#held = file;
      return true;
    }
    file.close();
    return false;
  }

  #isInPlace(file: Deno.FsFile): boolean {
    try {
      return file.statSync().ino === Deno.statSync(this.#path).ino;
    } catch {
      return false;
    }
  }
}
