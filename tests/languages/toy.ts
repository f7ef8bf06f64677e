// A second language, as small as one can be: `1 + 2 + 3`, `create things 7`, `each 100000`, `call twice 21`. Loaded into a
// service before it starts (`--import`), and so into the processes of its slow lane, it stands as version 10 in the tables.

import { step } from '../../src/base/effort.ts'
import type { RequestError } from '../../src/errors.ts'
import type { Protocol } from '../../src/http/protocol.ts'
import { protocols } from '../../src/http/protocols.ts'
import { languages } from '../../src/languages.ts'
import { limits } from '../../src/limits.ts'
import { Failure, LanguageError } from '../../src/model/failure.ts'
import { callFunction } from '../../src/model/functions.ts'
import type { NamedLanguage, Query, Rendered } from '../../src/model/language.ts'
import type { Session } from '../../src/model/session.ts'
import { createDocument } from '../../src/model/write.ts'
import { native, type Ref, type Value } from '../../src/values/value.ts'

/** An error of the toy. */
class ToyError extends LanguageError {
  readonly aborted = undefined
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

function named(kind: number, name: string, { database, transaction }: Session, at: number): Ref {
  const ref = transaction.catalogue.resolve(database, kind, name)
  if (ref === undefined) throw new ToyError(`there is no ${name}`, at)
  return ref
}

function numberOf(word: string | undefined, at: number): bigint {
  if (word === undefined || !/^\d+$/.test(word)) throw new ToyError(`${word ?? 'the end'} is no number`, at)
  return BigInt(word)
}

class ToyQuery implements Query {
  readonly #words: readonly string[]

  constructor(text: string) {
    this.#words = text.trim().split(/\s+/)
    if (text.includes('?')) throw new ToyError('nobody asks here', text.indexOf('?'))
  }

  get effect(): Query['effect'] {
    return this.#words[0] === 'create' ? 'write' : 'pure'
  }

  evaluate(session: Session): Rendered {
    return language.render(this.value(session), session)
  }

  value(session: Session): Value {
    const [verb, name = '', last] = this.#words
    try {
      switch (verb) {
        case 'create': {
          const fields = new Map([['data', new Map([['n', numberOf(last, 2)]])]])
          return createDocument(named(native.collections, name, session, 1), undefined, fields, session).ref
            .id
        }
        case 'call':
          return callFunction(
            named(native.functions, name, session, 1),
            { list: [numberOf(last, 2)] },
            session,
          )
        case 'each':
          for (let n = 0n; n < numberOf(name, 1); n++) {
            step(16)
            session.compute(1)
          }
          return numberOf(name, 1)
        default:
          return this.#words.reduce((sum, word, at) => (at % 2 === 0 ? sum + numberOf(word, at) : sum), 0n)
      }
    } catch (error) {
      throw error instanceof Failure ? new ToyError(error.message, 1) : error
    }
  }
}

const language: NamedLanguage<'10'> = {
  code: {
    run: ({ source }, _given, session) => new ToyQuery(source).value(session),
    facts: () => ({ parameters: 1, effect: 'write' }),
    isCode: () => true,
  },
  parse: ({ body = '' }) => new ToyQuery(body),
  render: value => ({ status: 200, body: `${String(value)} at <time>` }),
  complete: (body, { dialect }, { time, metrics }) =>
    `${body.replace('<time>', String(time))}, cost ${metrics?.computeOps}, in ${dialect}`,
  refused: error => ({
    status: 422,
    body: `no: ${error.message} (${error instanceof ToyError && error.at})`,
  }),
  failed: (error: RequestError) => ({ status: error.status, body: `no: ${error.code}` }),
  stackOverflow: () => new ToyError('too deep', 0),
  parseExplanation: ({ body = '' }) => {
    const [query = '', as = ''] = body.split(' as ')
    return {
      query: new ToyQuery(query),
      as: { effect: 'pure', value: () => as, evaluate: () => language.render(as, undefined as never) },
      setUses: () => [],
      dialect: 'toy',
    }
  },
  renderExplanation: told => language.render(told, undefined as never),
  describe: error => [error.message],
  streamOrder: () => {
    throw new ToyError('nothing can be followed', 0)
  },
  toldFault: body => (body.startsWith('no: ') ? { code: 'toy', text: body, position: '' } : undefined),
  shape: text => text.replace(/\d+/g, '#').replace(/^(create|call) \S+/, '$1 *'),
}

const protocol: Protocol = {
  language: '10',
  queryPath: '/toy',
  queryMethods: ['POST'],
  readSettings: headers =>
    headers['x-toy'] === 'bad'
      ? 'bad toy'
      : { dialect: 'toy', lastSeenTxn: undefined, retriesMax: 0, timeoutMs: limits.queryTimeoutDefaultMs },
  tagHeader: 'x-toy-tags',
  factsInHead: false,
  errorBody: (_code, description) => `no: ${description}`,
}

// The tables are readonly for everybody else.
Object.assign(languages, { '10': language })
;(protocols as Protocol[]).push(protocol)
