// What the background has to do yet.

import { percentText } from '../parts/quantities.ts'
import { addressIn } from '../router.ts'
import type { Health } from '../service/health.ts'

/** The service counts no further. */
const removalsMax = 1000

/** The section of work in the background. */
export function HealthWork({ work }: { work: Health['work'] }) {
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
        <section class="table-scroll" tabIndex={0} aria-label="Table of builds">
          <table>
            <thead>
              <tr>
                <th scope="col">Database</th>
                <th scope="col">What</th>
                <th scope="col">Done, about</th>
                <th scope="col">Why it does not end</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </section>
      )}
    </section>
  )
}
