// A text of a segment. A text belongs to many records, so what is parsed from the text is kept.

import { anyMark, markedName } from '../values/names.ts'
import { escaped } from './escaped.ts'
import { type LogCaller, type LogFault, logCaller, type NamedObject, namedObject } from './facts.ts'
import type { SearchText } from './search-text.ts'

/** The database of a record. */
interface StoredPlace {
  readonly trail: string
  /** The names of the database and its ancestors as JSON, outermost first. */
  readonly json: string
}

/** The query of a record. */
interface StoredQuery {
  /** The exported shape, escaped for JSON. */
  readonly plain: string
  /** The shape with the names of schema objects. */
  readonly shape: string
  readonly named: readonly NamedObject[]
  /** The shapes and the names, escaped for JSON, for searches. */
  readonly searched: string
}

interface StoredFault {
  readonly fault: LogFault
  readonly searched: string
}

export class StoredText {
  readonly text: string
  #parsed: unknown
  #fault: StoredFault | undefined
  #header: string | undefined
  #search: SearchText | undefined
  #isFound = false

  constructor(text: string) {
    this.text = text
  }

  /** `searched`: the part of this text that is searched. Must be the same in all calls, because the result is kept. */
  contains(search: SearchText, searched = this.text): boolean {
    if (search !== this.#search) {
      this.#search = search
      this.#isFound = search.isIn(searched.toLowerCase())
    }
    return this.#isFound
  }

  /** The text of a header as JSON in a JSON string. */
  get header(): string {
    this.#header ??= `\\"${escaped(this.text)}\\"`
    return this.#header
  }

  /** The text without the escapes of JSON. */
  get unescaped(): string {
    return this.#once(() => JSON.parse(`"${this.text}"`) as string)
  }

  get place(): StoredPlace {
    return this.#once(() => {
      const at = this.text.indexOf('[')
      return { trail: this.text.slice(0, at), json: this.text.slice(at) }
    })
  }

  get caller(): LogCaller {
    return this.#once(() => logCaller(...(JSON.parse(this.text) as [string, string, string])))
  }

  get tags(): Readonly<Record<string, string>> {
    return this.#once(() => JSON.parse(this.text) as Record<string, string>)
  }

  get query(): StoredQuery {
    return this.#once(() => {
      const [marked = '', json] = this.text.split('\n')
      const named = json === undefined ? [] : (JSON.parse(json) as string[]).map(namedObject)
      const nameOf = (mark: string) => named[markedName(mark.charCodeAt(0)) ?? -1]?.name ?? '?'
      const filled = marked.replace(anyMark, mark => escaped(nameOf(mark)))
      const names = named.map(({ name }) => escaped(name))
      const plain = marked.replace(anyMark, '?')
      return {
        plain,
        shape: JSON.parse(`"${filled}"`) as string,
        named,
        searched: [plain, filled, ...names].join('\n'),
      }
    })
  }

  get fault(): StoredFault {
    // A caller may have the same text as an error, so the error has a field of its own.
    this.#fault ??= faultIn(this.text)
    return this.#fault
  }

  /** Except for errors, a text is parsed in one way only. */
  #once<T>(parse: () => T): T {
    this.#parsed ??= parse()
    return this.#parsed as T
  }
}

function faultIn(json: string): StoredFault {
  const [code, text, position] = JSON.parse(json) as [string, string, string]
  const searched = [code, text, position].map(escaped).join('\n').toLowerCase()
  return { fault: { code, text, position }, searched }
}
