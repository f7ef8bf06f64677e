// A simple model of the database's visible behaviour: lists of versions, which are searched from end to end.
// Simulations run every query against both the database and the model, and compare the results.

/** User data: an object without nested objects, of JSON scalars and arrays. */
export type Data = Readonly<Record<string, unknown>>

/** State of a document from `ts` on. `data` undefined: the document is deleted. */
export interface ModelVersion {
  readonly ts: number
  readonly data: Data | undefined
  /** Microseconds from which on the document is invisible. */
  readonly ttl?: number | undefined
}

export interface DocumentName {
  readonly collection: string
  readonly id: bigint
}

export interface ModelIndex {
  readonly sources: readonly string[]
  /** A field of `data`. For an array, each element is a term. */
  readonly term: string
  /**
   * A field of `data` that sorts the entries, largest first, before the reference. Without a field, entries are
   * references only.
   */
  readonly value?: string
  readonly unique: boolean
  /** Set after a query has read the index, which must be complete from then on. */
  active: boolean
}

/** Add or remove. */
export interface ModelEvent {
  readonly ts: number
  readonly action: 'add' | 'remove'
  readonly document: DocumentName
}

const nameOf = ({ collection, id }: DocumentName): string => `${collection}/${id}`

function parsedName(name: string): DocumentName {
  const [collection = '', id = ''] = name.split('/')
  return { collection, id: BigInt(id) }
}

/** Thrown by a predicted query that fails. Its writes are discarded. */
export class Refusal {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    this.status = status
    this.code = code
  }
}

/** Everything that has been committed. */
export class Model {
  /** Oldest first. */
  readonly versions = new Map<string, readonly ModelVersion[]>()
  readonly indexes = new Map<string, ModelIndex>()
  /** Disabled by a test of the simulation itself. */
  readonly ignored: ReadonlySet<'unique' | 'ttl'>

  constructor(ignored: Iterable<'unique' | 'ttl'> = []) {
    this.ignored = new Set(ignored)
  }

  setVersion(document: DocumentName, version: ModelVersion): void {
    const versions = this.versionsOf(document).filter(each => each.ts !== version.ts)
    const sorted = [...versions, version].sort((left, right) => left.ts - right.ts)
    this.versions.set(nameOf(document), sorted)
  }

  removeVersion(document: DocumentName, ts: number): void {
    const kept = this.versionsOf(document).filter(each => each.ts !== ts)
    this.versions.set(nameOf(document), kept)
  }

  versionsOf(document: DocumentName): readonly ModelVersion[] {
    return this.versions.get(nameOf(document)) ?? []
  }
}

/** A query's view of the model: all commits up to its snapshot, and its own writes. */
export class ModelTransaction {
  readonly model: Model
  readonly snapshotTime: number
  /** The commit time if the query writes. */
  readonly commitTime: number
  readonly #written = new Map<string, ModelVersion>()
  readonly #afterwards: (() => void)[] = []
  /** Undefined: the present, with own writes. */
  #at: number | undefined

  constructor(model: Model, snapshotTime: number) {
    this.model = model
    this.snapshotTime = snapshotTime
    this.commitTime = snapshotTime + 1
  }

  get hasWritten(): boolean {
    return this.#written.size > 0 || this.#afterwards.length > 0
  }

  /** Documents that were written at {@link commitTime}. */
  get written(): readonly DocumentName[] {
    return [...this.#written.keys()].map(parsedName)
  }

  /** A time in the future means the present. */
  at<T>(time: number, read: () => T): T {
    this.#at = time >= this.snapshotTime ? undefined : time
    try {
      return read()
    } finally {
      this.#at = undefined
    }
  }

  get(document: DocumentName): ModelVersion | undefined {
    const at = this.#at
    const own = at === undefined ? this.#written.get(nameOf(document)) : undefined
    const time = at ?? this.snapshotTime
    const version = own ?? this.model.versionsOf(document).findLast(each => each.ts <= time)
    return version?.data !== undefined && this.#isAlive(version) ? version : undefined
  }

  #isAlive({ ttl }: ModelVersion): boolean {
    return ttl === undefined || ttl > this.snapshotTime || this.model.ignored.has('ttl')
  }

  /** Live documents, by id. */
  documents(collection: string): DocumentName[] {
    const names = new Set([...this.model.versions.keys(), ...this.#written.keys()])
    return [...names]
      .map(parsedName)
      .filter(name => name.collection === collection && this.get(name) !== undefined)
      .sort((left, right) => (left.id < right.id ? -1 : 1))
  }

  /** Returns documents in the order of the index. */
  match(index: ModelIndex, term: unknown): DocumentName[] {
    const found = index.sources.flatMap(source =>
      this.documents(source).filter(name => termsOf(index, this.get(name)).includes(term)),
    )
    const sortValue = (name: DocumentName) =>
      index.value === undefined ? 0 : Number(this.get(name)?.data?.[index.value])
    return found.sort((left, right) => sortValue(right) - sortValue(left) || (left.id < right.id ? -1 : 1))
  }

  matchEvents(index: ModelIndex, term: unknown): ModelEvent[] {
    const events: ModelEvent[] = []
    for (const [name, versions] of this.model.versions) {
      const document = parsedName(name)
      if (!index.sources.includes(document.collection)) continue
      let held = false
      for (const version of versions) {
        const holds = termsOf(index, version).includes(term)
        if (holds !== held) events.push({ ts: version.ts, action: holds ? 'add' : 'remove', document })
        held = holds
      }
    }
    const rank = (event: ModelEvent) => (event.action === 'remove' ? 0 : 1)
    return events.sort(
      (left, right) =>
        left.ts - right.ts || rank(left) - rank(right) || (left.document.id < right.document.id ? -1 : 1),
    )
  }

  /** Writes a whole document, and checks unique indexes. */
  put(document: DocumentName, data: Data, ttl?: number): ModelVersion {
    const version = { ts: this.commitTime, data, ttl }
    for (const index of this.model.indexes.values()) {
      if (!index.unique || !index.sources.includes(document.collection)) continue
      for (const term of termsOf(index, version)) {
        const others = this.match(index, term).filter(other => other.id !== document.id)
        if (others.length > 0 && !this.model.ignored.has('unique'))
          throw new Refusal(400, 'instance not unique')
      }
    }
    this.#written.set(nameOf(document), version)
    return version
  }

  delete(document: DocumentName): void {
    this.#written.set(nameOf(document), { ts: this.commitTime, data: undefined })
  }

  /**
   * Adds an action that the commit performs in addition to writing documents, such as changing the history or the
   * schema.
   */
  afterwards(effect: () => void): void {
    this.#afterwards.push(effect)
  }

  commit(): void {
    for (const [name, version] of this.#written) this.model.setVersion(parsedName(name), version)
    for (const effect of this.#afterwards) effect()
  }
}

/** The index contains the version under these terms. */
function termsOf(index: ModelIndex, version: ModelVersion | undefined): unknown[] {
  const value = version?.data?.[index.term]
  if (value === undefined) return []
  return Array.isArray(value) ? [...new Set(value)] : [value]
}
