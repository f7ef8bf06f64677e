// Writes of a document on each of two sides, so that a half-stored transaction is detected.

import { runText } from '../support/http.ts'
import type { RunningServer } from '../support/server.ts'

export const sides = ['left', 'right']

/** Creates the collection of the pairs, and an index with the pair and the side of each document. */
export async function createPairs(server: RunningServer, secret: string): Promise<void> {
  await runText(server, secret, 'CreateCollection({ name: "pairs" })')
  const values = '[{ field: ["data", "pair"] }, { field: ["data", "side"] }]'
  await runText(
    server,
    secret,
    `CreateIndex({ name: "by_pair", source: Collection("pairs"), values: ${values} })`,
  )
}

/** A query that writes `documents` documents on each side. It returns the last one. */
export function createPair(pair: string, { documents = 1, text = '' } = {}): object {
  const created = (side: string) => ({
    create: { collection: 'pairs' },
    params: { object: { data: { object: { pair, side, text } } } },
  })
  const create = (side: string) => ({
    map: { lambda: '_', expr: created(side) },
    collection: Array(documents).fill(0),
  })
  return { select: documents - 1, from: { do: sides.map(create) } }
}
