/** The words by which somebody starts the programs, for help texts and hints that can be copied. */

/** The programs, which are the sub-commands of `a2c-smcp` as well. */
const PROGRAMS = ["server", "computer", "agent"] as const;

/** The name of a program. */
export type ProgramName = typeof PROGRAMS[number];

/**
 * What starts a program, in the way that this process was started: `deno run -A agent.ts` where a door was run, and
 * `a2c-smcp agent` where that is what runs.
 */
export function commandLineOf(program: ProgramName, mainModule: string = Deno.mainModule): string {
  const isDoor = PROGRAMS.some((name) => mainModule.endsWith(`/${name}.ts`));
  return isDoor ? `deno run -A ${program}.ts` : `a2c-smcp ${program}`;
}
