// The workloads: requests to Terrarium, and the equivalent requests to the Fastify + PostgreSQL service.

import { document, groupSize, literal } from './documents.ts'

/** Facts about the loaded data. */
export interface LoadedData {
  /** Ids of the documents in Terrarium. In PostgreSQL they are 1, 2, 3 … in the same order. */
  readonly ids: readonly string[]
}

/** A request to both services. */
export interface CaseRequest {
  readonly query: unknown
  readonly postgres?: PostgresRequest
  /** Stores as much as Terrarium does (versions and the change log), if that differs from the minimal request. */
  readonly postgresSameWork?: PostgresRequest
}

/** A request to the Fastify + PostgreSQL service. */
export interface PostgresRequest {
  readonly path: string
  readonly body: unknown
}

export interface BenchCase {
  readonly name: string
  readonly about: string
  /** The default is HTTP/1.1. */
  readonly protocol?: 'h2'
  /** The connections repeat this list, which is so long that a cache of single responses does not help. */
  requests(loaded: LoadedData): readonly CaseRequest[]
}

const requestCount = 2000

/** Gives the same numbers in every run: multiplicative congruential, modulus 2^31 - 1. */
export function randomSource(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

type Random = ReturnType<typeof randomSource>

/** Refers to a document of the benchmark's collection. */
export function reference(id: string): object {
  const collections = { '@ref': { id: 'collections' } }
  return { '@ref': { id, collection: { '@ref': { id: 'documents', collection: collections } } } }
}

function get({ ids }: LoadedData, random: Random): CaseRequest {
  const n = random(ids.length)
  return { query: { get: reference(ids[n] as string) }, postgres: { path: '/get', body: { id: n + 1 } } }
}

function page({ ids }: LoadedData, random: Random): CaseRequest {
  const group = random(Math.max(1, Math.floor(ids.length / groupSize)))
  return {
    query: { paginate: { match: { index: 'by_group' }, terms: group } },
    postgres: { path: '/page', body: { group } },
  }
}

/** References with each document read, as for a list on a screen. */
function pageOfDocuments({ ids }: LoadedData, random: Random): CaseRequest {
  const group = random(Math.max(1, Math.floor(ids.length / groupSize)))
  const entries = { paginate: { match: { index: 'by_group' }, terms: group } }
  const lookUp = { lambda: ['number', 'ref'], expr: { get: { var: 'ref' } } }
  return {
    query: { map: lookUp, collection: entries },
    postgres: { path: '/page-of-documents', body: { group } },
  }
}

function create(_: LoadedData, random: Random): CaseRequest {
  const data = document(1_000_000_000 + random(1_000_000_000))
  return {
    query: { create: { collection: 'documents' }, params: literal({ data: literal(data) }) },
    postgres: { path: '/create', body: { data } },
    postgresSameWork: { path: '/create-with-history', body: { data } },
  }
}

const times = (random: Random, make: (random: Random) => CaseRequest) =>
  Array.from({ length: requestCount }, () => make(random))

/** Three hundred pure calls. */
const arithmetic = Array.from({ length: 100 }, (_, n) => ({
  equals: [{ add: [{ var: 'x' }, n] }, { multiply: [n, 2] }],
}))

export const cases: readonly BenchCase[] = [
  {
    name: 'get',
    about: 'one document by reference',
    requests: loaded => times(randomSource(1), random => get(loaded, random)),
  },
  {
    name: 'get-h2',
    about: 'the same over HTTP/2 in clear text, 4 connections with several streams each',
    protocol: 'h2',
    requests: loaded => times(randomSource(1), random => ({ query: get(loaded, random).query })),
  },
  {
    name: 'page',
    about: 'a page of 64 entries of an index',
    requests: loaded => times(randomSource(2), random => page(loaded, random)),
  },
  {
    name: 'page-get',
    about: 'the same page, with each document looked up',
    requests: loaded => times(randomSource(5), random => pageOfDocuments(loaded, random)),
  },
  {
    name: 'create',
    about: 'one durable document with two index entries',
    requests: loaded => times(randomSource(3), random => create(loaded, random)),
  },
  {
    name: 'mixed',
    about: '80 % get, 10 % page, 10 % create',
    requests: loaded =>
      times(randomSource(4), random => {
        const kind = random(10)
        return (kind === 0 ? create : kind === 1 ? page : get)(loaded, random)
      }),
  },
  {
    name: 'compute',
    about: 'three hundred pure calls',
    requests: () => [{ query: { let: [{ x: 7 }], in: arithmetic } }],
  },
]
