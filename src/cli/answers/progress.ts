/** How far a tool call has come, as one line. */
import type { CallProgress } from "../../protocol/progress.ts";

/** `30 % (3 of 10)  Compiling`; without a total only the number. The line may contain control characters of the tool. */
export function progressText({ progress, total, message }: CallProgress): string {
  const text = message === undefined || message === "" ? "" : `  ${message}`;
  if (total === undefined) return `${toShortNumber(progress)}${text}`;
  const percent = Math.min(100, Math.max(0, Math.floor(100 * progress / total)));
  const numbers = total === 100 ? "" : ` (${toShortNumber(progress)} of ${toShortNumber(total)})`;
  return `${percent} %${numbers}${text}`;
}

function toShortNumber(value: number): string {
  return Number.isInteger(value) ? `${value}` : `${Math.round(value * 100) / 100}`;
}
