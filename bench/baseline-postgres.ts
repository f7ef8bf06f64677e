// The service that an application author would write instead: Fastify and `pg` over PostgreSQL with its default
// durability. The endpoints are `POST /get {id}`, `POST /page {group}`, `POST /page-of-documents {group}`, `POST
// /create {data}`, and `POST /create-with-history {data}`, which also stores each version and its change in the same
// transaction, as Terrarium does. BENCH_PG_SOCKET names PostgreSQL's socket folder.

import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ host: process.env.BENCH_PG_SOCKET, user: 'bench', database: 'postgres', max: 32 })
const app = Fastify()

app.post<{ Body: { id: number } }>('/get', async ({ body }) => {
  const found = await pool.query({
    name: 'get',
    text: 'SELECT id, data FROM documents WHERE id = $1',
    values: [body.id],
  })
  return { resource: found.rows[0] }
})

app.post<{ Body: { group: number } }>('/page', async ({ body }) => {
  const found = await pool.query({
    name: 'page',
    text: 'SELECT number, id FROM documents WHERE grp = $1 ORDER BY number, id LIMIT 64',
    values: [body.group],
  })
  return { resource: { data: found.rows } }
})

app.post<{ Body: { group: number } }>('/page-of-documents', async ({ body }) => {
  const found = await pool.query({
    name: 'page-of-documents',
    text: 'SELECT id, data FROM documents WHERE grp = $1 ORDER BY number, id LIMIT 64',
    values: [body.group],
  })
  return { resource: { data: found.rows } }
})

app.post<{ Body: { data: { key: string; group: number; number: number } } }>(
  '/create',
  async ({ body }, reply) => {
    const { data } = body
    const made = await pool.query({
      name: 'create',
      text: 'INSERT INTO documents (key, grp, number, data) VALUES ($1, $2, $3, $4) RETURNING id, data',
      values: [data.key, data.group, data.number, JSON.stringify(data)],
    })
    reply.code(201)
    return { resource: made.rows[0] }
  },
)

app.post<{ Body: { data: { key: string; group: number; number: number } } }>(
  '/create-with-history',
  async ({ body }, reply) => {
    const { data } = body
    // This query is one transaction and one round trip.
    const made = await pool.query({
      name: 'create-with-history',
      text: `WITH made AS (
          INSERT INTO documents (key, grp, number, data) VALUES ($1, $2, $3, $4) RETURNING id, data
        ), version AS (
          INSERT INTO history (id, ts, data) SELECT id, clock_timestamp(), data FROM made RETURNING id, ts
        ), change AS (
          INSERT INTO changes (ts, id) SELECT ts, id FROM version
        )
        SELECT id, data FROM made`,
      values: [data.key, data.group, data.number, JSON.stringify(data)],
    })
    reply.code(201)
    return { resource: made.rows[0] }
  },
)

await app.listen({ port: 0, host: '127.0.0.1' })
console.log((app.server.address() as AddressInfo).port)
process.on('SIGTERM', async () => {
  await app.close()
  await pool.end()
})
