/** Writes completion scripts for shells from the declared commands. Pure. */
import type { Command, Option } from "commander";
import { flagOf, optionsOf } from "./prompt/completion.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export type ShellName = typeof SHELLS[number];

interface Suggestion {
  readonly word: string;
  readonly about: string;
}

interface Place {
  /** The words, each after a space; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Suggestion[];
  readonly flags: readonly Suggestion[];
}

interface ValueFlag {
  readonly flag: string;
  /** The possible values; empty if any value is possible. */
  readonly choices: readonly string[];
}

interface CompletionTree {
  readonly places: readonly Place[];
  readonly valueFlags: readonly ValueFlag[];
}

/**
 * Writes a script that completes the sub-commands of `program`, their options and choices. Everywhere else the shell
 * completes file names.
 */
export function completionScript(
  shell: ShellName,
  { program, commands }: { readonly program: string; readonly commands: Readonly<Record<string, Command>> },
): string {
  const tree = toTree(commands);
  const name = `_${program.replaceAll(/\W/g, "_")}`;
  switch (shell) {
    case "bash":
      return bashScript(tree, { program, name });
    case "zsh":
      return zshScript(tree, { program, name });
    case "fish":
      return fishScript(tree, { program, name });
  }
}

function toTree(commands: Readonly<Record<string, Command>>): CompletionTree {
  const top = Object.entries(commands).map(([word, command]) => ({
    word,
    about: shortText(command.description()),
  }));
  const completion = { word: "completion", about: "print a completion script" };
  const shells = SHELLS.map((word) => ({ word, about: "" }));
  const below = Object.entries(commands).map(([word, command]) => placesOf(command, ` ${word}`));
  const found = below.flat();
  const options = found.flatMap(({ options }) => options).filter(({ required }) => required);
  const flags = Map.groupBy(options, flagOf);
  return {
    places: [
      { path: "", commands: [...top, completion], flags: [] },
      { path: " completion", commands: shells, flags: [] },
      ...found.map(({ place }) => place),
    ],
    valueFlags: [...flags].map(([flag, options]) => ({
      flag,
      choices: [...new Set(options.flatMap(({ argChoices = [] }) => argChoices))],
    })),
  };
}

function placesOf(
  command: Command,
  path: string,
): { readonly place: Place; readonly options: readonly Option[] }[] {
  const options = optionsOf(command);
  const flags = new Map(options.map((option) => [flagOf(option), shortText(option.description)]));
  const commands = command.createHelp().visibleCommands(command);
  const place = {
    path,
    commands: commands.map((each) => ({ word: each.name(), about: shortText(each.description()) })),
    flags: [...flags].map(([word, about]) => ({ word, about })),
  };
  const below = commands.filter((each) => each.name() !== "help");
  return [{ place, options }, ...below.flatMap((each) => placesOf(each, `${path} ${each.name()}`))];
}

/** The first sentence, without characters that have a meaning in a shell or its menus. */
function shortText(text: string): string {
  return (text.split(/\.(?= |$)|\n/)[0] ?? "").replaceAll("'", "’").replaceAll(
    /[^\p{L}\p{N} .,;:=<>()’/-]/gu,
    "",
  )
    .slice(0, 80).trim();
}

interface Names {
  readonly program: string;
  readonly name: string;
}

function pathPattern({ places }: CompletionTree): string {
  return places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`).join("|");
}

function flagCases(
  { valueFlags }: CompletionTree,
  known: (choices: string) => string,
  files: string,
): string[] {
  const named = valueFlags.filter(({ choices }) => choices.length > 0);
  const others = valueFlags.filter(({ choices }) => choices.length === 0).map(({ flag }) => flag);
  return [
    ...named.map(({ flag, choices }) => `    ${flag}) ${known(choices.join(" "))} ;;`),
    ...others.length === 0 ? [] : [`    ${others.join("|")}) ${files} ;;`],
  ];
}

function bashScript(tree: CompletionTree, { program, name }: Names): string {
  const words = (list: readonly Suggestion[]) => list.map(({ word }) => word).join(" ");
  return `# Completion of ${program} in bash: eval "$(${program} completion bash)"
${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" commands="" flags="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in ${pathPattern(tree)}) path="$path \${COMP_WORDS[i]}" ;; esac
  done
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${
    flagCases(tree, (choices) => `COMPREPLY=($(compgen -W "${choices}" -- "$current")); return`, "return")
      .join("\n")
  }
  esac
  case "$path" in
${
    tree.places.map(({ path, commands, flags }) =>
      `    "${path}") commands="${words(commands)}" flags="${words(flags)}" ;;`
    ).join("\n")
  }
  esac
  [[ "$current" == -* ]] && commands="$flags"
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
}
complete -o default -F ${name} ${program}
`;
}

function zshScript(tree: CompletionTree, { program, name }: Names): string {
  const list = (suggestions: readonly Suggestion[]) =>
    suggestions.map(({ word, about }) => `'${word}:${about}'`).join(" ");
  return `#compdef ${program}
# Completion of ${program} in zsh: eval "$(${program} completion zsh)", after compinit
${name}() {
  local place="" i
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$place \${words[i]}" in (${pathPattern(tree)}) place="$place \${words[i]}" ;; esac
  done
  case "\${words[CURRENT - 1]}" in
${flagCases(tree, (choices) => `compadd -- ${choices}; return`, "_files; return").join("\n")}
  esac
  case "$place" in
${
    tree.places.map(({ path, commands, flags }) =>
      `    "${path}") commands=(${list(commands)}) flags=(${list(flags)}) ;;`
    ).join("\n")
  }
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option flags
  elif (( \${#commands} )); then
    _describe command commands
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == ${name} ]]; then ${name} "$@"; else compdef ${name} ${program}; fi
`;
}

function fishScript(tree: CompletionTree, { program, name }: Names): string {
  const choices = new Map(tree.valueFlags.map(({ flag, choices }) => [flag, choices]));
  const valueOf = (flag: string) => {
    const known = choices.get(flag);
    if (known === undefined) return "";
    return known.length === 0 ? " -r" : ` -x -a '${known.join(" ")}'`;
  };
  const lines = tree.places.flatMap(({ path, commands, flags }) => {
    const start = `complete -c ${program} -n 'test "$(${name}_path)" = "${path}"'`;
    return [
      ...commands.map(({ word, about }) => `${start} -f -a ${word} -d '${about}'`),
      ...flags.map(({ word, about }) => `${start} -l ${word.slice(2)}${valueOf(word)} -d '${about}'`),
    ];
  });
  return `# Completion of ${program} in fish: ${program} completion fish | source
function ${name}_path
  set -l path ""
  for word in (commandline -opc)[2..]
    switch "$path $word"
      case ${pathPattern(tree).replaceAll("|", " ")}
        set path "$path $word"
    end
  end
  echo "$path"
end
${lines.join("\n")}
`;
}
