// `terrarium completion bash|zsh|fish`: prints a script with which a shell completes commands and flags.

import { UsageError } from '../../app/config/read-config.ts'
import { type Command, command } from '../command.ts'
import { completionScripts } from '../completion-scripts.ts'

/** The command for a table of commands, which contains this command, too. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return command({
    name: 'completion',
    summary: 'Prints a script for the completion of commands and flags in a shell.',
    operands: [{ name: 'SHELL', doc: `Name of the shell: ${Object.keys(completionScripts).join(', ')}.` }],
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/terrarium', 'For bash:'],
      ['completion zsh > ~/.zfunc/_terrarium', 'For zsh, with ~/.zfunc in $fpath:'],
      ['completion fish > ~/.config/fish/completions/terrarium.fish', 'For fish:'],
    ],
    async run({ operands: [shell = ''] }) {
      const script = Object.hasOwn(completionScripts, shell) ? completionScripts[shell] : undefined
      if (!script) throw new UsageError(`there is no completion for the shell "${shell}"`)
      process.stdout.write(script(commands()))
      return 0
    },
  })
}
