/** Times and sizes as people read them. */
import { signal } from "@preact/signals";
import { texts } from "../texts.ts";
import { html, type View } from "./words.ts";

/** The time, told once a second while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

const UNITS = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]] as const;

/** The two largest units: `2 h 5 min`, `4.2 s`, `820 ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return spanText(ms);
}

/** Whole units alone, for what is told each second. */
export function spanText(ms: number): string {
  let seconds = Math.max(0, Math.round(ms / 1_000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    if (seconds < size && !(unit === "s" && parts.length === 0)) continue;
    parts.push(`${Math.floor(seconds / size)} ${unit}`);
    seconds %= size;
  }
  return parts.slice(0, 2).join(" ");
}

export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** How long ago an instant was, told anew each second. */
export function sinceOf(at: string | null): View {
  return at !== null && html`<${Since} at=${at} />`;
}

function Since({ at }: { at: string }): View {
  return timeOf(at, spanText(now.value - Date.parse(at)));
}

/** The time of day; with the date, unless it is today. */
export function momentOf(at: string): View {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? "" : `${date.toLocaleDateString(undefined, { month: "short", day: "numeric" })} `;
  return timeOf(at, `${day}${date.toLocaleTimeString("sv")}`);
}

export function asleepOf(since: string): View {
  return html`<span>${texts.asleepSince} ${momentOf(since)}</span>`;
}

function timeOf(at: string, text: string): View {
  return html`<time datetime=${at} title=${new Date(at).toLocaleString()}>${text}</time>`;
}
