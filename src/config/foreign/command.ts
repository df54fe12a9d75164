/** Commands as people write them into a configuration. */

const SHELL = /^(?:.*[\\/])?(?:sh|bash|zsh|dash|fish|cmd|powershell|pwsh)(?:\.exe)?$/i;

/** Whether a command is a shell, whose arguments may have variables of its own in them. */
export function isShell(command: string): boolean {
  return SHELL.test(command);
}
