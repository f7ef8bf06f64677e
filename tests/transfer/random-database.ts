// Databases of every kind that an export may contain, generated from a seed: objects of both versions of the language,
// schema files in folders, checks across collections, documents with a history, and nested databases.

import { QueryError } from '../../src/transfer/connection.ts'
import { parseJson } from '../../src/values/json.ts'
import { RandomSource } from '../support/seeded.ts'
import type { TestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })

const files = ['main.fsl', 'collections/a.fsl', 'collections/B.fsl', 'deep/er/c.fsl', '../up.fsl', 'Main.fsl']
const typed = ['Alpha', 'Beta', 'Gamma']
/** Objects other than collections of the files. */
const fileObjects = [{ function: 'twice' }, { function: 'again' }, { role: 'reader' }]
const free = ['things', 'Things', '..', 'odd-name', 'Token', 'Collection']
const texts = [
  '',
  'plain',
  '[legacy index i]',
  '[function <lambda>]',
  '\u{1f600} "\\ \n',
  '2020-01-01T00:00:00Z',
]
const names = [
  'a',
  'ref',
  'data',
  'id',
  'ts',
  'coll',
  '@x',
  '__proto__',
  'export_id',
  'total_parts',
  'document',
]

class RandomDatabase {
  readonly #random: RandomSource
  readonly #database: TestDatabase
  readonly #path: readonly string[]
  readonly #collections: string[] = []
  readonly #roles: string[] = []

  constructor(random: RandomSource, database: TestDatabase, path: readonly string[]) {
    this.#random = random
    this.#database = database
    this.#path = path
  }

  async fill(depth: number): Promise<void> {
    if (this.#chance(70)) await this.#pushFiles()
    if (this.#chance(70)) await this.#createObjects()
    const documents = this.#random.below(25)
    for (let at = 0; at < documents; at++) await this.#writeDocument()
    for (const name of this.#collections.filter(() => this.#chance(20)))
      await this.#giveData({ collection: name })
    for (const object of [...fileObjects, ...this.#roles.map(role => ({ role }))])
      if (this.#chance(20)) await this.#giveData(object)
    if (depth === 0 || !this.#chance(40)) return
    for (const name of ['child', 'Child', '%2E'].filter(() => this.#chance(50))) {
      const params = object({ name, ...(this.#chance(50) && { data: this.#ownData() }) })
      if (!(await this.#ask({ create_database: params }))) continue
      await new RandomDatabase(this.#random, this.#database, [...this.#path, name]).fill(depth - 1)
    }
  }

  #chance(percent: number): boolean {
    return this.#random.below(100) < percent
  }

  #one<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)] as T
  }

  #some(...lines: readonly string[]): string {
    return lines.filter(() => this.#chance(50)).join('\n  ')
  }

  /** A query that may be rejected: then it changes nothing. */
  async #ask(query: unknown): Promise<boolean> {
    try {
      await this.#database.ask(query, this.#path)
      return true
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      return false
    }
  }

  // ------------------------------------------------------------------------------------------ version 10

  async #pushFiles(): Promise<void> {
    const items = typed.map(name => this.#collection(name))
    items.push(
      'function twice(x: Int): Number {\n  x * 2\n}',
      '@alias(Other)\nfunction again(x) {\n  twice(x)\n}',
    )
    items.push(
      'role reader {\n  privileges Alpha {\n    read {\n      predicate (d => d.n == 1)\n    }\n  }\n  membership Beta\n}',
    )
    const texts = new Map<string, string>()
    for (const item of items) {
      const name = this.#one(files)
      const comment = this.#chance(30) ? '// A remark.\n' : ''
      texts.set(name, `${texts.get(name) ?? ''}${comment}${item}\n\n`)
    }
    const pushed = Array.from(texts, ([name, text]) => ({ name, text }))
    await this.#database.connection.pushSchema(['moved', ...this.#path], pushed, false)
    this.#collections.push(...typed)
  }

  #collection(name: string): string {
    const other = this.#one(typed)
    return `collection ${name} {
  n: Int
  link: Ref<${other}>?
  ${this.#some('text: String = "none"', 'when: Time?', 'list: Array<Int>?', 'inner: { a: Int, b: String? }?')}
  *: Any
  ${this.#some('compute double = (d => d.n * 2)', 'compute seen = (d => d.link?.exists())')}
  ${this.#some('index byN {\n    terms [.n]\n    values [desc(.text), .link]\n  }', 'unique [.n]')}
  ${this.#some('check sound (d => d.n >= 0)', 'check has (d => d.link == null || d.link!.exists())')}
  ${this.#some(`check paired (d => d.n < 40 || ${other}.all().where(e => e.n >= 40).first() != null)`)}
  ${this.#some('document_ttls true', `history_days ${this.#random.below(5)}`, 'ttl_days 3000')}
}`
  }

  // ------------------------------------------------------------------------------------------- version 4

  async #createObjects(): Promise<void> {
    for (const name of free.filter(() => this.#chance(40))) {
      const days = this.#one([null, 0, 1, 30, undefined])
      const more = {
        ...(this.#chance(30) && { ttl_days: 3000 }),
        ...(this.#chance(30) && { data: this.#ownData() }),
      }
      const params = object({ name, ...(days !== undefined && { history_days: days }), ...more })
      if (await this.#ask({ create_collection: params })) this.#collections.push(name)
    }
    for (const name of ['byN', 'all', 'up.per'].filter(() => this.#chance(50))) await this.#createIndex(name)
    for (const name of ['callers', 'other', 'odd-role'].filter(() => this.#chance(50)))
      await this.#createRole(name)
    if (this.#chance(50)) {
      const body = { query: { lambda: 'x', expr: { add: [{ var: 'x' }, 1] } } }
      const [role] = this.#roles
      const params = { name: 'increase', body, ...(role && this.#chance(50) && { role: { role } }) }
      await this.#ask({ create_function: object(params) })
    }
    if (this.#chance(30)) await this.#ask({ create_key: object({ role: 'server', name: 'of a test' }) })
    if (this.#chance(30)) {
      const name = this.#one(['them', 'odd-them'])
      const [role] = this.#roles
      const roles = role !== undefined && this.#chance(50) && { roles: { role } }
      const params = { name, issuer: 'https://them.example', jwks_uri: 'https://them.example/keys', ...roles }
      await this.#ask({ create_access_provider: object(params) })
    }
  }

  async #createIndex(name: string): Promise<void> {
    const collection = { collection: this.#collections.length === 0 ? 'none' : this.#one(this.#collections) }
    const fields = object({
      half: { query: { lambda: 'd', expr: { select: ['data', 'n'], from: { var: 'd' } } } },
    })
    const source = this.#chance(30) ? object({ collection, fields }) : collection
    const term = this.#chance(30) ? { binding: 'half' } : { field: ['data', 'n'] }
    const values = [object({ field: ['ts'], reverse: true }), object({ field: ['ref'] })]
    await this.#ask({
      create_index: object({
        name,
        source,
        ...(this.#chance(70) && { terms: [object(term)] }),
        ...(this.#chance(50) && { values }),
        ...(this.#chance(20) && { unique: true }),
      }),
    })
  }

  async #createRole(name: string): Promise<void> {
    if (this.#collections.length === 0) return
    const resource = { collection: this.#one(this.#collections) }
    const predicate = { query: { lambda: 'r', expr: { equals: [{ var: 'r' }, resource] } } }
    const privileges = object({ resource, actions: object({ read: this.#chance(50) ? true : predicate }) })
    const membership = this.#chance(50) && { membership: object({ resource }) }
    await this.#ask({ create_role: object({ name, privileges, ...membership }) })
    this.#roles.push(name)
  }

  // ------------------------------------------------------------------------------------------- documents

  async #writeDocument(): Promise<void> {
    if (this.#collections.length === 0) return
    const ref = this.#document()
    const isTyped = typed.some(name => JSON.stringify(ref).includes(`"${name}"`))
    // Checks of other documents depend on existing ones: an update could violate a check that held before.
    if (!isTyped && this.#chance(15)) {
      await this.#ask({ delete: ref })
      return
    }
    const params: Record<string, unknown> = { data: this.#data(2) }
    if (this.#chance(15)) params.ttl = { time: `2${this.#random.below(9) + 100}-01-01T00:00:00Z` }
    if (this.#chance(10)) params.credentials = object({ password: 'a password' })
    const exists = { exists: ref }
    const kept = object({ data: object({ text: this.#one(texts) }) })
    const write = { update: ref, params: isTyped ? kept : object(params) }
    await this.#ask({ if: exists, then: write, else: { create: ref, params: object(params) } })
  }

  #document(): object {
    return { ref: { collection: this.#one(this.#collections) }, id: String(this.#random.below(6) + 1) }
  }

  /** Gives a schema object data, when it is there, and a document to which the data refers is there. */
  async #giveData(schemaObject: object): Promise<void> {
    const owner = this.#collections.length > 0 && this.#chance(50) && { owner: this.#document() }
    const data = object({ text: this.#one(texts), ...owner })
    await this.#ask({ update: schemaObject, params: object({ data }) })
  }

  /** Free data of a schema object. */
  #ownData(): object {
    return object({ text: this.#one(texts), '@x': this.#random.below(5), list: [{ '@date': '2020-02-29' }] })
  }

  #data(depth: number): object {
    const fields: Record<string, unknown> = {}
    if (this.#chance(90)) fields.n = this.#random.below(50)
    if (this.#collections.length > 0 && this.#chance(50)) fields.link = this.#document()
    for (const name of names) {
      if (this.#chance(15))
        Object.defineProperty(fields, name, { value: this.#value(depth), enumerable: true })
    }
    return object(fields)
  }

  #value(depth: number): unknown {
    switch (this.#random.below(depth > 0 ? 14 : 11)) {
      case 0:
        return this.#one([0, -1, 2147483648, 1.5, 1e300, -0.5])
      case 1:
        return this.#one([true, false])
      case 2:
        return this.#one(texts)
      case 3:
        return { '@ts': '2020-01-01T00:00:00.000000001Z' }
      case 4:
        return { '@date': '2020-02-29' }
      case 5:
        return { '@bytes': 'AAEC' }
      case 6:
        return { '@uuid': '00000000-0000-0000-0000-00000000000a' }
      case 7:
        return this.#collections.length > 0 ? this.#document() : null
      case 8:
        return this.#collections.length > 0 ? { collection: this.#one(this.#collections) } : { keys: null }
      case 9:
        return { query: { lambda: 'x', expr: { var: 'x' } } }
      case 10:
        return this.#one([
          { databases: null },
          object({}),
          [],
          { '@ref': { id: '21', collection: { tokens: null } } },
        ])
      case 11:
        return this.#data(depth - 1)
      default:
        return Array.from({ length: this.#random.below(4) }, () => this.#value(depth - 1))
    }
  }
}

/** Fills the database `moved`, which is created, with content generated from the seed. */
export async function fillRandomly(database: TestDatabase, seed: number): Promise<void> {
  await database.connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
  await new RandomDatabase(new RandomSource(seed), database, []).fill(2)
}
