// Records the schema objects that a query has found by name, for the query log.

import { markedNamesMax } from '../values/name-marks.ts'

/** A schema object that a query has found by its name. A plain value. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** The shared list of queries that have found no object. Never modified. */
const none: NamedObject[] = []

/** The first schema objects that a query has found, each once, in order. */
export class NamedObjects {
  #list = none

  get list(): readonly NamedObject[] {
    return this.#list
  }

  /** Records an object. */
  note(kind: NamedObject['kind'], name: string): void {
    const list = this.#list
    if (list.length >= markedNamesMax) return
    for (const each of list) if (each.name === name && each.kind === kind) return
    if (list.length === 0) this.#list = [{ kind, name }]
    else list.push({ kind, name })
  }
}
