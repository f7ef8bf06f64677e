// Which schema objects a query has found by their names: the query log tells them.

import { markedNamesMax } from '../values/name-marks.ts'

/** A schema object that a query has found by its name. A plain value. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** Of queries that have named nothing; never added to. */
const none: NamedObject[] = []

/** The first schema objects of a query, each once. */
export class NamedObjects {
  #list = none

  /** In the order in which they were found. */
  get list(): readonly NamedObject[] {
    return this.#list
  }

  /** One was found. */
  note(kind: NamedObject['kind'], name: string): void {
    const list = this.#list
    if (list.length >= markedNamesMax) return
    for (const each of list) if (each.name === name && each.kind === kind) return
    if (list.length === 0) this.#list = [{ kind, name }]
    else list.push({ kind, name })
  }
}
