// Retries documents that failed the checks of their collection because other documents did not exist yet. After all
// files are read, they are written again in batches, until a round makes little progress. Then documents that refer to
// each other are written in one transaction, because each check may need the other documents. Documents that still fail
// get the outcome `bad`.

import { upsert } from '../base/upsert.ts'
import type { BatchResult, Outcome } from './batch-writer.ts'
import { type BatchOutcome, batchCharactersMax, batchRecordsMax, type RecordOrigin } from './batches.ts'
import type { DatabasePath } from './connection.ts'
import type { DocumentRecord } from './record.ts'
import { documentsIn } from './references.ts'

/** A document that failed its checks because of `reason`. */
export interface UnmetDocument {
  /** Path below the target database of the import. */
  readonly database: DatabasePath
  readonly origin: RecordOrigin
  readonly record: DocumentRecord
  readonly reason: string
}

type OpenDocument = UnmetDocument & { readonly ordinal: number }

interface UnmetDocumentsOptions {
  /** Reads the unmet documents. Called several times. */
  readonly all: () => Iterable<readonly UnmetDocument[]>
  /**
   * Writes documents of one database in one transaction. Resolves with the reason of the failed check for each
   * document, or undefined if the check passed.
   */
  readonly write: (documents: readonly UnmetDocument[]) => Promise<readonly (string | undefined)[]>
}

export class UnmetDocuments {
  readonly #options: UnmetDocumentsOptions
  /** Latest reasons why documents fail, by the document's ordinal number. Undefined before the first attempt. */
  #open: Map<number, string> | undefined

  constructor(options: UnmetDocumentsOptions) {
    this.#options = options
  }

  /** Resolves with the documents that still fail at the end. */
  async retry(): Promise<readonly UnmetDocument[]> {
    for (;;) {
      const before = this.#open?.size ?? Number.POSITIVE_INFINITY
      await this.#writeBatches(this.#documents())
      // Little progress means that documents depend on each other in a long chain or in a cycle.
      if (this.#openCount > before / 2 && !(await this.#writeRelated())) break
      if (this.#openCount === 0) break
    }
    return [...this.#documents()]
  }

  get #openCount(): number {
    return this.#open?.size ?? 0
  }

  /** Documents that still fail, with the latest reason. */
  *#documents(): Generator<OpenDocument> {
    let ordinal = 0
    for (const chunk of this.#options.all()) {
      for (const document of chunk) {
        const reason = this.#open === undefined ? document.reason : this.#open.get(ordinal)
        if (reason !== undefined) yield { ...document, reason, ordinal }
        ordinal++
      }
    }
  }

  /** Writes documents in order, in batches of one database each. */
  async #writeBatches(documents: Iterable<OpenDocument>): Promise<void> {
    const open = new Map(this.#open)
    let batch: OpenDocument[] = []
    const send = async () => {
      await this.#send(batch, open)
      batch = []
    }
    let characters = 0
    for (const document of documents) {
      const isOther = batch[0] !== undefined && databaseOf(batch[0]) !== databaseOf(document)
      if (isOther || batch.length === batchRecordsMax || characters > batchCharactersMax) {
        await send()
        characters = 0
      }
      batch.push(document)
      characters += document.record.size
    }
    await send()
    this.#open = open
  }

  async #send(batch: readonly OpenDocument[], open: Map<number, string>): Promise<void> {
    if (batch.length === 0) return
    const reasons = await this.#options.write(batch)
    for (const [at, { ordinal }] of batch.entries()) {
      const reason = reasons[at]
      if (reason === undefined) open.delete(ordinal)
      else open.set(ordinal, reason)
    }
  }

  /**
   * Writes each group of documents that refer to each other in one transaction. Checks may also find documents through
   * sets, so a document may need documents outside its group: if no document was written, all remaining documents of a
   * database are written in one transaction. Resolves with true if any document was written.
   */
  async #writeRelated(): Promise<boolean> {
    const before = this.#openCount
    const open = new Map(this.#open)
    const documents = [...this.#documents()]
    const groups = relatedGroups(documents)
    for (const group of groups) await this.#send(group, open)
    if (open.size === before) {
      const all = Map.groupBy(documents, databaseOf)
      if (all.size < groups.length) for (const group of all.values()) await this.#send(group, open)
    }
    this.#open = open
    return open.size < before
  }
}

/** Leaves out the documents whose outcome is `unmet`. */
export function withoutUnmet(
  documents: readonly UnmetDocument[],
  { missing, outcomes, unresolved }: BatchResult,
): Omit<BatchOutcome, 'place'> {
  const met = [...outcomes.keys()].filter(at => outcomes[at]?.kind !== 'unmet')
  const newIndexes = new Map(met.map((at, index) => [at, index]))
  const moved = <T extends { readonly record: number }>(found: readonly T[]) =>
    found.flatMap(each => {
      const record = newIndexes.get(each.record)
      return record === undefined ? [] : [{ ...each, record }]
    })
  return {
    records: met.map(at => (documents[at] as UnmetDocument).record),
    origins: met.map(at => (documents[at] as UnmetDocument).origin),
    result: {
      outcomes: met.map(at => outcomes[at] as Outcome),
      missing: moved(missing),
      unresolved: moved(unresolved),
    },
  }
}

function databaseOf({ database }: UnmetDocument): string {
  return database.join('/')
}

/** Groups documents that refer to each other, directly or indirectly (union-find). */
function relatedGroups(documents: readonly OpenDocument[]): readonly (readonly OpenDocument[])[] {
  const keyOf = (document: UnmetDocument, collection: string, id: bigint) =>
    `${databaseOf(document)}/${collection} ${id}`
  const indexes = new Map(
    documents.map((each, at) => [keyOf(each, each.record.collection, each.record.id), at]),
  )
  const parents = documents.map((_, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    while (parents[root] !== root) root = parents[root] as number
    for (let next = at; next !== root; ) {
      const parent = parents[next] as number
      parents[next] = root
      next = parent
    }
    return root
  }
  for (const [at, each] of documents.entries()) {
    for (const { collection, id } of documentsIn(each.record.fields)) {
      const other = indexes.get(keyOf(each, collection, id))
      if (other !== undefined) parents[rootOf(at)] = rootOf(other)
    }
  }
  const groups = new Map<number, OpenDocument[]>()
  for (const [at, each] of documents.entries()) upsert(groups, rootOf(at), () => []).push(each)
  return [...groups.values()]
}
