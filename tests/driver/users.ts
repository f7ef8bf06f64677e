// The usual schema of an application with users: a collection, a public unique index for logins by email address, and
// an index that finds a user's tokens.

import { type App, type Client, type Document, q } from './app.ts'

export const password = 'correct horse battery staple'

/** Creates the schema, and returns a server client. */
export async function withUsers(app: App): Promise<Client> {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'users' }))
  await server.query(
    q.CreateIndex({
      name: 'users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
      permissions: { read: 'public' },
    }),
  )
  await server.query(
    q.CreateIndex({
      name: 'tokens_by_instance',
      source: q.Tokens(),
      terms: [{ field: ['instance'] }],
      permissions: { read: 'public' },
    }),
  )
  return server
}

/** Creates a user with {@link password}. */
export function createUser(server: Client, email: string): Promise<Document> {
  return server.query(q.Create(q.Collection('users'), { data: { email }, credentials: { password } }))
}

/** The set with the user of an email address. */
export const byEmail = (email: string) => q.Match(q.Index('users_by_email'), email)
