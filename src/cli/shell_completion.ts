/** Completion in shells: a short script for each, which asks `a2c-smcp completion words` what may stand at the cursor. */
import type { Command } from "commander";
import { suggest, type Suggestion } from "./prompt/completion.ts";

const SCRIPTS = {
  bash: `# Completion of a2c-smcp in bash: source <(a2c-smcp completion bash)
_a2c_smcp() {
  local IFS=$'\\n' words
  words="$(a2c-smcp completion words "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _a2c_smcp a2c-smcp`,
  zsh: `#compdef a2c-smcp
# Completion of a2c-smcp in zsh: source <(a2c-smcp completion zsh), after compinit
_a2c_smcp() {
  local -a found
  found=("\${(@f)$(a2c-smcp completion words "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then
    found=("\${(@)found/$'\\t'/:}")
    _describe value found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _a2c_smcp ]]; then _a2c_smcp "$@"; else compdef _a2c_smcp a2c-smcp; fi`,
  fish: `# Completion of a2c-smcp in fish: a2c-smcp completion fish | source
function _a2c_smcp
  set -l current (commandline -ct)
  set -l found (a2c-smcp completion words (commandline -opc)[2..] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c a2c-smcp -f -a '(_a2c_smcp)'`,
};

type ShellName = keyof typeof SCRIPTS;

export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** The script of a shell; `undefined` for a shell without one. Where nothing is suggested, the shell completes files. */
export function completionScript(shell: string): string | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as ShellName] : undefined;
}

/** A line for what may stand in the place of the last word: the word, and after a tab the first sentence about it. */
export async function suggestedLines(program: Command, words: readonly string[]): Promise<string> {
  return toLines(await suggest(program, { words: words.slice(0, -1), word: words.at(-1) ?? "" }));
}

export function toLines(suggestions: readonly Suggestion[]): string {
  return suggestions.map(({ word, about }) => {
    const sentence = (about.split(/\.(?= |$)|\n/)[0] ?? "").replaceAll("\t", " ").slice(0, 80).trim();
    return sentence === "" ? word : `${word}\t${sentence}`;
  }).join("\n");
}
