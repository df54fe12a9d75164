/**
 * How Windows starts a command as its command prompt does: `npx` is `npx.cmd`, which only `cmd.exe` can run. A batch file
 * reads its arguments as a line of code, so each of them is quoted.
 */

/** The endings of files that start as programs, where `PATHEXT` names no others. */
export const PROGRAM_ENDINGS = ".COM;.EXE;.BAT;.CMD";
/** Holds a percent sign: what a variable contains is not expanded again, and a batch file knows no other way. */
const PERCENT = "A2C_SMCP_PERCENT";

export interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether the arguments are one line already, in which nothing may be quoted again. */
  readonly isRaw: boolean;
  /** Variables that the line needs. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The line that runs a batch file.
 *
 * @throws {TypeError} for an argument with a line break, which no batch file can get.
 */
export function batchLine(file: string, args: readonly string[], shell: string): CommandLine {
  return shellLine([file, ...args].map(quoteForCmd).join(" "), shell);
}

/** The line that runs a line of `cmd.exe`, without what the user has set to run before each. */
export function shellLine(line: string, shell: string): CommandLine {
  const env: Record<string, string> = line.includes(`%${PERCENT}%`) ? { [PERCENT]: "%" } : {};
  return { program: shell, args: [`/e:ON /v:OFF /d /s /c "${line}"`], isRaw: true, env };
}

/**
 * Quotes a word so that `cmd.exe`, and then the program, read it as it is.
 *
 * @throws {TypeError} for a line break or a null character, at which the line would end.
 */
export function quoteForCmd(word: string): string {
  if (/[\r\n\0]/.test(word)) {
    throw new TypeError("An argument of a batch file must not contain a line break or a null character");
  }
  if (/^[\w.:\\/@+#-]*[\w.:/@+#-]$/.test(word)) return word;
  // Backslashes count only before a quotation mark, where each needs another one.
  const quoted = word.replaceAll(/(\\*)"/g, '$1$1""').replace(/\\+$/, "$&$&");
  return `"${quoted.replaceAll("%", `%${PERCENT}%`)}"`;
}
