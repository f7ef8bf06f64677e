// The engine over a PostgreSQL record passes the suite of every engine, with an empty record for each test.

import { describe } from 'node:test'
import { noPostgres } from '../support/postgres.ts'
import { openTestNode, postgresOfFile } from '../support/record.ts'
import { storeSuite } from './suite.ts'

describe('postgres', { skip: noPostgres }, () => {
  const server = postgresOfFile()
  let schemas = 0
  storeSuite('postgres', () => openTestNode({ url: server.url(), schema: `store_${++schemas}` }))
})
