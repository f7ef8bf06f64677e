// Chooses a version of the language, and loads only its parser.

import { StartError } from '../command.ts'
import type { Dialect } from './dialect.ts'

/** Throws {@link StartError} for an unknown name. */
export async function dialectOf(name: string): Promise<Dialect> {
  switch (name) {
    case '4':
      return (await import('./dialect-4.ts')).dialect4
    case '10':
      return (await import('./dialect-10.ts')).dialect10
    default:
      throw new StartError(`there is no version ${name} of the language: it is 4 or 10`)
  }
}
