// A comparison of two versions of a schema item: the versions, and the groups of lines that describe the differences.

import type { SchemaItem } from '../schema-items.ts'
import type { DiffLine } from './drawing.ts'

interface DiffGroup {
  readonly title: string | undefined
  readonly lines: readonly DiffLine[]
}

/** `before` is undefined for a new item, and `after` for a deleted item. */
export interface ItemPair<T extends SchemaItem = SchemaItem> {
  readonly before: T | undefined
  readonly after: T | undefined
}

export class Findings {
  readonly groups: DiffGroup[] = []
  /**
   * True if the stored item must change, also if only the spelling of its code differs. For a new or deleted item, true
   * if it has parts that are compared.
   */
  isDifferent = false

  addUnlessEmpty(title: string | undefined, lines: readonly DiffLine[]): void {
    if (lines.length > 0) this.add(title, lines)
  }

  /** Adds a group, even if `lines` is empty. */
  add(title: string | undefined, lines: readonly DiffLine[]): void {
    this.isDifferent = true
    this.groups.push({ title, lines })
  }

  /** If `isDifferent` is true, records a difference that no line describes. */
  note(isDifferent: boolean): void {
    if (isDifferent) this.isDifferent = true
  }
}
