// What the background has to do yet.

import type { ServiceHealth } from '../../../src/server/operation/health.ts'
import { percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'
import { addressIn } from '../router.ts'

/** The service counts no further. */
const removalsMax = 1000

/** The section of work in the background. */
export function HealthWork({ work }: { work: ServiceHealth['work'] }) {
  const { builds, builds_count: count, removals } = work
  return (
    <section aria-labelledby="background">
      <h2 id="background">Work in the background</h2>
      <p>
        {count === 0 ? 'No index is being built.' : `${count} under way, in small steps beside the queries.`}{' '}
        {removals === 0
          ? 'Nothing deleted waits to be removed.'
          : `${removals < removalsMax ? removals : 'More than a thousand'} deleted collections, indexes and databases still take room on the disk until their rows are removed.`}
      </p>
      {builds.length > 0 && (
        <Table label="Table of builds" columns={['Database', 'What', 'Done, about', 'Why it does not end']}>
          {builds.map(({ database, failure, kind, name, share }) => (
            <tr key={[...database, kind, name].join('/')}>
              <td>
                <a href={addressIn([], { db: database.join('/') || undefined })}>
                  <bdi>{database.join('/') || 'root'}</bdi>
                </a>
              </td>
              <td>
                {kind === 'index' ? 'index ' : 'documents of '}
                <bdi>{name}</bdi>
              </td>
              <td>{percentText(share)}</td>
              <td>
                <bdi>{failure ?? ''}</bdi>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
