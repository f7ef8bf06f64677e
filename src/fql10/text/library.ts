// The names of the library of version 10, as shells complete and explain them.

import { libraryTable } from './library-table.ts'

/** A field or function of version 10 of the language. */
export interface LibraryName {
  /** The type of the values that have it; empty for what is written by its name alone, such as `Math.abs`. */
  readonly owner: string
  readonly name: string
  /** What stands behind the name, such as `(x: Number)`; empty for fields. */
  readonly parameters: string
  /** The type of what it gives. */
  readonly result: string
  /** One sentence. */
  readonly summary: string
}

/** All of them, in the order of the reference. */
export const libraryNames: readonly LibraryName[] = libraryTable
  .trim()
  .split('\n')
  .map(line => {
    // The table is generated with these cells.
    const [owner = '', name = '', parameters = '', result = '', summary = ''] = line.split('\t')
    return { owner, name, parameters, result, summary }
  })
