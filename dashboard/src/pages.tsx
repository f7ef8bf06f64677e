// Selects the page of an address. Its code is loaded when the page is opened.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Heading } from './parts/heading.tsx'
import { Problem } from './parts/problem.tsx'
import { address } from './router.ts'

type Page = ComponentType<{ readonly path: readonly string[] }>

/**
 * Pages by the first part of their path. The import page has an entry apart from the other pages of a collection,
 * because only the import needs the code that reads and converts data files.
 */
const pages: Readonly<Record<string, () => Promise<Page>>> = {
  '': () => import('./pages/overview.tsx').then(module => module.Overview),
  collections: () => import('./pages/collections.tsx').then(module => module.Collections),
  'collections/import': () => import('./pages/import.tsx').then(module => module.Import),
  diagram: () => import('./pages/diagram.tsx').then(module => module.Diagram),
  indexes: () => import('./pages/indexes.tsx').then(module => module.Indexes),
  events: () => import('./pages/events.tsx').then(module => module.Events),
  functions: () => import('./pages/functions.tsx').then(module => module.Functions),
  'schema-files': () => import('./pages/schema-files.tsx').then(module => module.SchemaFiles),
  graphql: () => import('./pages/graphql.tsx').then(module => module.Graphql),
  roles: () => import('./pages/roles.tsx').then(module => module.Roles),
  keys: () => import('./pages/keys.tsx').then(module => module.Keys),
  tokens: () => import('./pages/tokens.tsx').then(module => module.Tokens),
  credentials: () => import('./pages/credentials.tsx').then(module => module.Credentials),
  shell: () => import('./pages/shell.tsx').then(module => module.Shell),
  health: () => import('./pages/health.tsx').then(module => module.Health),
  logs: () => import('./pages/logs.tsx').then(module => module.Logs),
  denied: () => import('./pages/denied.tsx').then(module => module.Denied),
  'access-providers': () => import('./pages/access-providers.tsx').then(module => module.AccessProviders),
}

const loaded = new Map<string, Page>()

export function PageOf() {
  const { path } = address.value
  const [first = '', , part] = path
  const name = first === 'collections' && part === 'import' ? 'collections/import' : first
  const [page, setPage] = useState<Page | undefined>(() => loaded.get(name))
  const [error, setError] = useState<Error | undefined>(undefined)
  const load = pages[name]
  useEffect(() => {
    if (page !== undefined || load === undefined) return
    load().then(
      found => {
        loaded.set(name, found)
        setPage(() => found)
      },
      cause =>
        setError(
          new Error(`The code of this page could not be loaded (${(cause as Error).message}). Try again.`),
        ),
    )
  }, [name])
  if (load === undefined) {
    return (
      <>
        <Heading title="Page not found" />
        <p>
          <a href="/dashboard/">Go to the overview</a>
        </p>
      </>
    )
  }
  if (error) return <Problem error={error} retry={() => location.reload()} />
  const Shown = page
  return Shown ? (
    <Shown path={path.slice(1)} />
  ) : (
    <p class="loading" role="status">
      Loading…
    </p>
  )
}
