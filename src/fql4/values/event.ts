// Events of histories and their actions as values of version 4.

import {
  type ActionName,
  instant,
  type Micros,
  type ObjectValue,
  type Ref,
  type TransactionTime,
  Transient,
  type Value,
} from '../../values/value.ts'

/** The action of an event. It renders like a string but has its own type. */
export class Action extends Transient {
  readonly kind = 'action'
  readonly name: ActionName
  constructor(name: ActionName) {
    super()
    this.name = name
  }

  override get word(): string {
    return this.name
  }

  storedForm(): string {
    return this.name
  }

  parts(): readonly Value[] {
    return [this.name]
  }
}

/** An entry of a history: of a document (create, update, delete) or of a set (add, remove). */
export class EventValue extends Transient {
  readonly kind = 'event'
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  /** Absent in cursors without a document. */
  readonly document: Ref | undefined
  /** A document's changed top-level fields (rendering shows only `data`); null when there are none. */
  readonly fields: ObjectValue | null
  /** The covered values of a set's entry. */
  readonly values: readonly Value[] | undefined
  constructor(
    ts: Micros | TransactionTime,
    action: ActionName,
    document: Ref | undefined,
    fields: ObjectValue | null,
    values?: readonly Value[],
  ) {
    super()
    this.ts = ts
    this.action = action
    this.document = document
    this.fields = fields
    this.values = values
  }

  /** Returns whether this is an entry in the history of a set. */
  get ofSet(): boolean {
    return this.action === 'add' || this.action === 'remove'
  }

  storedForm(): ObjectValue {
    const form = new Map<string, Value>([
      ['ts', instant(this.ts)],
      ['action', this.action],
    ])
    if (this.document) form.set('resource', this.document)
    const values = this.ofSet ? this.values : this.fields
    return values ? form.set('values', values) : form
  }

  parts(): readonly Value[] {
    return [this.ts, this.action, this.document ?? null, this.fields, this.values ?? null]
  }
}
