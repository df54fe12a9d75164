/** The part of the address that says what is shown: `#/servers/files`. */
import { signal } from "@preact/signals";

export const route = signal<readonly string[]>([]);

function readRoute(): void {
  const words = location.hash.replace(/^#\/?/, "").split("/").filter((word) => word !== "");
  try {
    route.value = words.map(decodeURIComponent);
  } catch {
    route.value = [];
  }
}

export function linkTo(...words: readonly string[]): string {
  return `#/${words.map((word) => encodeURIComponent(word.toWellFormed())).join("/")}`;
}

/** Shows another part; `isStep` false leaves no entry in the history of the browser, as for a choice in a list. */
export function goTo(words: readonly string[], { isStep = true } = {}): void {
  if (isStep) location.hash = linkTo(...words);
  else history.replaceState(null, "", linkTo(...words));
  readRoute();
}

export function startRouting(): void {
  addEventListener("hashchange", readRoute);
  readRoute();
}
