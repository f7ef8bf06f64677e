// The shape of a command of the command line: one file each in commands/, listed in main.ts.

import type { SettingName } from '../config.ts'

export interface Command {
  /** One sentence for the list of commands. */
  readonly doc: string
  /** What its one word before the flags stands for, when it takes one. */
  readonly parameter?: string
  /** What may follow its name, a line each, where that is more than flags. */
  readonly usage?: readonly string[]
  /** The settings it takes, in the order of `--help`. */
  readonly settings: readonly SettingName[]
  /** Runs to the end and resolves with the exit status. `words` are the flags after the command's name. */
  run(words: readonly string[]): Promise<number>
}

/** A failure to explain in one line: the operator's to mend, no bug. Exit status 1. */
export class StartError extends Error {
  override name = 'StartError'
}
