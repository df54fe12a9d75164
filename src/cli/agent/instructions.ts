/** `agent.ts instructions`: how a coding agent without MCP uses an office by this program. `SKILL.md` is the same text. */

/** The words of the program in `SKILL.md`. */
export const SKILL_PROGRAM = "a2c-smcp agent";

/**
 * The text of the skill.
 *
 * @param program The words that start the Agent's program.
 */
export function instructionsText(program: string): string {
  return `---
name: a2c-office
description: Use the tools, live windows and documents of other people's machines through an A2C-SMCP office. Use it when the user mentions an office, a Computer of an office, a dpe:// or window:// URI, or a machine that this one cannot reach itself.
---

# The machines of an office

An office is a room on a Server. Its Computers are machines of people; each offers tools, windows and documents. The
program \`${program}\` reaches them. It needs \`A2C_URL\`, \`A2C_OFFICE\` and \`A2C_NAME\` in the environment, or \`--url\`,
\`--office\` and \`--name\`; for a Server that wants a token, \`A2C_TOKEN\` or \`--token-file FILE\`.

Add \`--json\` to each command: the answer is then one JSON document on standard output, and an error one JSON object on
standard error. With several Computers in the office, add \`--computer NAME\`.

## Look around

\`\`\`sh
${program} office --json              # who is there: members with role "computer" are the Computers
${program} servers --json             # the MCP servers of a Computer, what each is for, and its instructions
${program} tools --json               # all tools of a Computer: name, description, schema
${program} tools NAME --json          # one tool, with its whole description and schema
\`\`\`

## Call a tool

Read its schema first. Give the arguments as one JSON object; \`--params @FILE\` reads it from a file, \`--params -\` from
standard input, so that nothing has to be quoted.

\`\`\`sh
${program} call NAME --params '{"path": "notes.txt"}' --json
${program} call NAME --params @arguments.json --timeout 2m --json
\`\`\`

- An office has one seat for an Agent. \`call\`, \`prompt\`, \`skills\`, \`skill\` and \`upload\` take it while they run, so calls that you start at the
  same time run one after another: each waits up to 15 s for its turn, with \`--patience 2m\` longer.
- The exit code is 0 when the tool succeeded and 1 when it failed; \`content\` then says why.
- A call may wait for its owner's confirmation. A result with \`meta.error_code\` 4005 was not confirmed: tell the user,
  and do not call the tool again unless they say so.
- Never pass \`--approve\` unless the user has agreed to this call.
- A tool may change or delete something on another person's machine, unless its annotations say \`readOnlyHint: true\` or
  \`destructiveHint: false\`. Say what you are going to do before you call it.

## Read windows and documents

\`\`\`sh
${program} desktop --json                           # the live windows of a Computer, the most important first
${program} desktop --window URI --json              # one of them
${program} finder --keyword report --json           # documents, by words of title, keywords and summary
${program} read URI --json                          # metadata of a document, dpe://HOST/DOCUMENT
${program} read 'URI?depth=pages' --json            # with its pages
${program} read 'URI/pages/0?format=markdown' --json # a page as Markdown
${program} read URI/elements/ID --json              # a table, a picture or a paragraph alone
\`\`\`

Quote URIs in the shell: they may hold \`?\` and \`&\`.

## When something fails

The exit code says what to do:

- 1: the tool failed: read \`content\`, and correct the arguments. Or there is no such Computer, document or element: read the
  message, and look around again.
- 2: the command line is wrong. Read the message; \`${program} help COMMAND\` has the options.
- 3: the Server or the Computer cannot be reached. Wait and try again, or tell the user.
- 4: the Server refused: the token, the office or the version is wrong. Tell the user.
- 5: no answer came in time. The tool may have run: look before you call it again.
- 6: another Agent has the office's seat, or a limit is reached; nothing was done. Try again with \`--patience 2m\`. If it stays so,
  tell the user which Agent the message names.
`;
}
