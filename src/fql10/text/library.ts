// Lists the names of the library of version 10, for completion and help in shells.

import { libraryTable } from './library-table.ts'

export interface LibraryName {
  /** The type of the values that have this field or method; empty for a global name such as `Math.abs`. */
  readonly owner: string
  readonly name: string
  /** The parameters, such as `(x: Number)`; empty for fields. */
  readonly parameters: string
  readonly result: string
  readonly summary: string
}

/** All names, in the order of the reference. */
export const libraryNames: readonly LibraryName[] = libraryTable
  .split('\n')
  .filter(line => line !== '')
  .map(line => {
    // The generated table always has these cells.
    const [owner = '', name = '', parameters = '', result = '', summary = ''] = line.split('\t')
    return { owner, name, parameters, result, summary }
  })
