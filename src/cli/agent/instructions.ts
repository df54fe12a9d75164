/** `agent.ts instructions`: how a coding agent without MCP uses an office by this program. */
import skill from "../../../skills/a2c-office/SKILL.md" with { type: "text" };

/** The words of the program in `SKILL.md`. */
const SKILL_PROGRAM = "a2c-smcp agent";

/** The text of the skill, with the words that start the Agent's program. */
export function instructionsText(program: string): string {
  return skill.replaceAll(SKILL_PROGRAM, program);
}
