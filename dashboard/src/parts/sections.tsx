// The navigation: the sections that the secret can use.

import { address, addressOf, databasePath } from '../router.ts'
import { session } from '../session.ts'
import { CollectionLinks } from './collection-links.tsx'

interface Section {
  readonly path: string
  readonly name: string
  /** Hides the section for roles that cannot use it. The role is null for users and user-defined roles. */
  readonly isHidden?: (role: string | null | undefined) => boolean
  /** Shows the section for the root secret only. */
  readonly isForRoot?: true
}

const isBelowServer = (role: string | null | undefined) => role === 'server-readonly' || role === 'client'
const isBelowAdmin = (role: string | null | undefined) => isBelowServer(role) || role === 'server'

const groups: readonly (readonly [title: string, sections: readonly Section[]])[] = [
  [
    'Data',
    [
      { path: '', name: 'Overview' },
      { path: 'diagram', name: 'Diagram' },
      { path: 'indexes', name: 'Indexes' },
      { path: 'functions', name: 'Functions' },
      { path: 'schema-files', name: 'Schema files', isHidden: role => role === 'client' || role === null },
      { path: 'graphql', name: 'GraphQL' },
      { path: 'events', name: 'Events' },
      { path: 'shell', name: 'Shell' },
    ],
  ],
  [
    'Access',
    [
      { path: 'roles', name: 'Roles', isHidden: isBelowAdmin },
      { path: 'keys', name: 'Keys', isHidden: isBelowAdmin },
      { path: 'tokens', name: 'Tokens', isHidden: isBelowServer },
      { path: 'credentials', name: 'Credentials', isHidden: isBelowServer },
      { path: 'access-providers', name: 'Access providers', isHidden: isBelowAdmin },
      { path: 'denied', name: 'Why denied', isHidden: role => isBelowAdmin(role) || role === null },
    ],
  ],
  [
    'Operation',
    [
      { path: 'logs', name: 'Logs', isHidden: role => role !== 'admin' },
      { path: 'health', name: 'Health', isForRoot: true },
    ],
  ],
]

export function Sections({ isOpen }: { isOpen: boolean }) {
  const { role, is_root: isRoot } = session.value?.principal ?? {}
  const here = address.value.path[0] ?? ''
  // In narrow windows, the style sheet hides the sections until the user opens the menu.
  const isShown = isOpen || matchMedia('(min-width: 761px)').matches
  return (
    <nav class={isOpen ? 'sections open' : 'sections'} aria-label="Sections" id="sections">
      {groups.map(([title, sections]) => {
        const shown = sections.filter(section => !section.isHidden?.(role) && (isRoot || !section.isForRoot))
        if (shown.length === 0) return null
        return [
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {shown.map(({ path, name }) => {
                const isHere = here === path
                return (
                  <li key={path}>
                    <a href={addressOf(path === '' ? [] : [path])} aria-current={isHere ? 'page' : undefined}>
                      {name}
                    </a>
                  </li>
                )
              })}
            </ul>
          </section>,
          title === 'Data' && <CollectionLinks key={databasePath.value.join('/')} isShown={isShown} />,
        ]
      })}
    </nav>
  )
}
