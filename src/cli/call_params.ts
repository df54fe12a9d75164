/** `--params`: the arguments of a tool as JSON, on the command line, in a file or from standard input. */
import { InvalidArgumentError } from "commander";
import { isRecord, parseJson } from "../json.ts";
import { UsageError } from "./exit_codes.ts";
import { describeFileError } from "../files.ts";

/** The longest file of arguments, in bytes. No Server relays more by default. */
const MAX_PARAMS_BYTES = 16 * 1024 * 1024;

/** The arguments of a tool, which may have to be read first. */
export class CallParams {
  readonly #written: string;
  #reading: Promise<Record<string, unknown>> | undefined;

  /**
   * @param written A JSON object, `@FILE`, or `-` for standard input.
   * @throws {InvalidArgumentError} when it is none of these.
   */
  constructor(written: string) {
    this.#written = written;
    if (written !== "-" && !written.startsWith("@")) parseParams(written);
  }

  /**
   * Gives the arguments. A file, or standard input, is read once.
   *
   * @throws {UsageError} when the file cannot be read, or holds something else.
   */
  read(signal: AbortSignal): Promise<Record<string, unknown>> {
    return this.#reading ??= this.#read(signal);
  }

  async #read(signal: AbortSignal): Promise<Record<string, unknown>> {
    if (this.#written === "-") return parseFile("standard input", await readStandardInput(signal));
    if (!this.#written.startsWith("@")) return parseParams(this.#written);
    const path = this.#written.slice(1);
    return parseFile(`"${path}"`, await readFile(path, signal));
  }
}

/** Reads the arguments of a tool: a JSON object. */
export function parseParams(raw: string): Record<string, unknown> {
  const params = parseJson(raw);
  if (!isRecord(params)) {
    throw new InvalidArgumentError(`Write them as a JSON object, such as {"message":"hi"}`);
  }
  return params;
}

function parseFile(name: string, text: string): Record<string, unknown> {
  const params = parseJson(text.replace(/^\ufeff/, ""));
  if (isRecord(params)) return params;
  throw new UsageError(`Cannot read arguments from ${name}: not a JSON object, such as {"message":"hi"}`);
}

async function readStandardInput(signal: AbortSignal): Promise<string> {
  if (Deno.stdin.isTerminal()) {
    throw new UsageError(
      "Cannot read arguments from standard input: it is a terminal; pipe a JSON object in",
    );
  }
  return await readText(Deno.stdin.readable, { name: "standard input", signal });
}

async function readFile(path: string, signal: AbortSignal): Promise<string> {
  const name = `"${path}"`;
  try {
    const file = await Deno.open(path);
    return await readText(file.readable, { name, signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`Cannot read arguments from ${name}: ${describeFileError(cause)}`, { cause });
  }
}

async function readText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<string> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const gather = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(piece) {
      size += piece.length;
      if (size > MAX_PARAMS_BYTES) {
        throw new UsageError(`Cannot read arguments from ${name}: more than ${MAX_PARAMS_BYTES} bytes`);
      }
      pieces.push(piece);
    },
  });
  await stream.pipeTo(gather, { signal });
  return await new Blob(pieces).text();
}
