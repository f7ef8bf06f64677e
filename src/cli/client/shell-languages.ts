// Chooses a version of the language, and loads only its parser.

import { CommandError } from '../command.ts'
import type { ShellLanguage } from './shell-language.ts'

/** Throws {@link CommandError} for an unknown name. */
export async function shellLanguageOf(name: string): Promise<ShellLanguage> {
  switch (name) {
    case '4':
      return (await import('./shell-language-4.ts')).shellLanguage4
    case '10':
      return (await import('./shell-language-10.ts')).shellLanguage10
    default:
      throw new CommandError(`there is no version ${name} of the language: it is 4 or 10`)
  }
}
