// The documents that viewers and subjects depend on, looked up by every document a transaction touches.

import type { Change } from '../../storage/store/contract.ts'
import { documentKey } from './subject.ts'
import type { Condition } from './viewer.ts'

export class Conditions<T> {
  readonly #conditions = new Map<T, readonly Condition[]>()
  readonly #dependents = new Map<string, Map<T, Condition>>()

  /** Lets `dependent` depend on some documents, until it is removed. */
  add(dependent: T, conditions: readonly Condition[]): void {
    this.#conditions.set(dependent, conditions)
    for (const condition of conditions) {
      const key = documentKey(condition.document)
      const present = this.#dependents.get(key)
      if (present) present.set(dependent, condition)
      else this.#dependents.set(key, new Map([[dependent, condition]]))
    }
  }

  remove(dependent: T): void {
    for (const { document } of this.#conditions.get(dependent) ?? []) {
      const key = documentKey(document)
      const present = this.#dependents.get(key)
      present?.delete(dependent)
      if (present?.size === 0) this.#dependents.delete(key)
    }
    this.#conditions.delete(dependent)
  }

  /** Who depended on something that these changes took away. */
  brokenBy(changes: readonly Change[]): Set<T> {
    const broken = new Set<T>()
    if (this.#dependents.size === 0) return broken
    for (const { ref, action } of changes) {
      for (const [dependent, { onDeleteOnly }] of this.#dependents.get(documentKey(ref)) ?? []) {
        if (!onDeleteOnly || action === 'delete') broken.add(dependent)
      }
    }
    return broken
  }
}
