/** What `skills` and `skill` print. */
import type { SkillRef } from "../../protocol/skills.ts";
import { printableLine, toSeenWord } from "../../text/safe_text.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";

export function skillsText(skills: readonly SkillRef[], { accent, faint }: Palette = PLAIN): string {
  if (skills.length === 0) return "no skills";
  return skills.map(({ name, source, description, tags = [] }) => {
    const remarks = [source, ...tags.map((tag) => `#${tag}`)].join("  ");
    return `${accent(toSeenWord(name))}  ${faint(printableLine(remarks))}\n    ${printableLine(description)}`;
  }).join("\n");
}
