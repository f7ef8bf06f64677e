// The collections of the database in the navigation, with their numbers of documents and bytes. Measuring a size reads
// rows, so only the first rows of large collections are counted, and later only the open collection is measured again.

import { useEffect, useState } from 'preact/hooks'
import { address, addressOf, pastTime } from '../router.ts'
import { callApi } from '../service/client.ts'
import { asPage, pageOf, read } from '../service/data.ts'
import { currentSecret, rights } from '../session.ts'
import { refOf } from '../wire/refs.ts'
import { useLoad } from './load.tsx'
import { bytesText } from './quantities.ts'

/** Maximum number of links. The overview lists all collections. */
const shownMax = 10

interface CollectionSize {
  readonly documents: number
  readonly bytes: number
  readonly after: string | null
}

function sizeText({ after, bytes, documents }: CollectionSize): string {
  const more = after === null ? '' : '+'
  const word = documents === 1 && after === null ? 'document' : 'documents'
  return `${documents.toLocaleString('en')}${more} ${word}, ${bytesText(bytes)}${more}`
}

/** `isShown`: the section is visible. Callers without the right to list collections see nothing. */
export function CollectionLinks({ isShown }: { readonly isShown: boolean }) {
  const here = address.value.path[0] === 'collections' ? address.value.path[1] : undefined
  const list = useLoad(
    async signal => {
      const page = await read(pageOf({ collections: null }, shownMax + 1), signal).catch(() => undefined)
      return asPage(page?.value ?? null).data.flatMap(ref => refOf(ref)?.id ?? [])
    },
    [pastTime.value],
  )
  // After a collection is created or renamed, its page opens, but the list does not contain its name yet. After a
  // deletion, the overview opens. In both cases the list is read again.
  const isStale = address.value.path.length === 0 || (here !== undefined && !list.data?.includes(here))
  useEffect(() => {
    if (list.data && isStale) list.reload()
  }, [address.value.path.join('/')])
  const names = list.data?.slice(0, shownMax) ?? []
  const sizes = useSizes(isShown && pastTime.value === undefined ? names : [], here)
  if (names.length === 0) return null
  return (
    <section>
      <h2>Collections</h2>
      <ul>
        {names.map(name => (
          <li key={name}>
            <a
              href={addressOf(['collections', name])}
              aria-current={name === here ? 'page' : undefined}
              title={name}
            >
              <bdi class="section-name">{name}</bdi>
              {sizes.has(name) && (
                <span class="section-size">{sizeText(sizes.get(name) as CollectionSize)}</span>
              )}
            </a>
          </li>
        ))}
        {(list.data?.length ?? 0) > shownMax && (
          <li>
            <a href={addressOf([])}>All collections</a>
          </li>
        )}
      </ul>
    </section>
  )
}

type Sizes = ReadonlyMap<string, CollectionSize>

/** Returns no sizes for callers who may not read sizes. */
function useSizes(names: readonly string[], here: string | undefined): Sizes {
  const [sizes, setSizes] = useState<Sizes>(new Map())
  const mayRead = rights.value.measures
  const measure = (some: readonly string[]) => {
    const controller = new AbortController()
    if (mayRead) {
      void readSizes(some, controller.signal, (name, size) =>
        setSizes(before => new Map(before).set(name, size)),
      )
    }
    return () => controller.abort()
  }
  useEffect(() => measure(names), [names.join(' ')])
  const isMeasured = here !== undefined && sizes.has(here)
  useEffect(() => (isMeasured ? measure([here]) : undefined), [address.value.path.join('/')])
  return sizes
}

async function readSizes(
  names: readonly string[],
  signal: AbortSignal,
  onSize: (name: string, size: CollectionSize) => void,
): Promise<void> {
  const path = '/api/v1/collections/_size'
  const as = currentSecret.value
  for (const collection of names) {
    const size = await callApi<CollectionSize>('POST', path, as, { collection }, signal).catch(
      () => undefined,
    )
    if (signal.aborted) return
    if (size) onSize(collection, size)
  }
}
