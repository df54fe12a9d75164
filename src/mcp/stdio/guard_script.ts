/** What the guard of child processes runs. */

/** The variable by which the processes of one MCP server are told from all others, wherever they go. */
export const TREE_VARIABLE = "A2C_SMCP_TREE";

/**
 * A program for `sh`. Its argument is the beginning of every mark `VARIABLE=VALUE` that it may ever have to look for;
 * its input are lines:
 *
 * - `add PID`, `del PID`: a process group to be killed when the input ends, or no more;
 * - `sweep MARK…`: kills now what carries one of these marks in its environment.
 *
 * In the end it kills whatever carries a mark that begins so. It ignores the signals that end a terminal's foreground
 * group, and is started with a group of its own. A process that is to outlive its MCP server takes the variable out
 * of its environment. Where there is no `/proc`, or no `grep`, a sweep finds nothing.
 */
export const GUARD_SCRIPT = `
trap '' INT TERM HUP
family=$1
groups=

# What is killed may have started something meanwhile.
sweep() {
  for round in 1 2 3; do
    found=
    for file in $(grep -lsF "$@" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s KILL "\${pid%/environ}" 2>/dev/null && found=1
    done
    [ -n "$found" ] || return 0
  done
}

while read -r verb words; do
  case $verb in
    add) groups="$groups $words" ;;
    del)
      rest=
      for group in $groups; do [ "$group" = "$words" ] || rest="$rest $group"; done
      groups=$rest
      ;;
    sweep)
      set --
      for mark in $words; do set -- "$@" -e "$mark"; done
      sweep "$@"
      ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
sweep -e "$family"
exit 0`;
