/** How many there are of something. */

/** `1 tool`, `2 tools` */
export function countOf(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
