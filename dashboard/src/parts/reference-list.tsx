// The documents that a document refers to, as links below its text.

import { useMemo } from 'preact/hooks'
import { referencesIn } from '../language.ts'
import { addressOf } from '../router.ts'

const shownMax = 100
/** Longer texts are not searched. */
const textCharsMax = 500_000

/** Links to what a text in driver notation refers to; nothing when it refers to nothing. */
export function ReferenceList({ text }: { text: string }) {
  const references = useMemo(
    () => (text.length > textCharsMax ? [] : referencesIn(text).slice(0, shownMax)),
    [text],
  )
  if (references.length === 0) return null
  return (
    <section class="references" aria-label="References">
      <h2>Refers to</h2>
      <ul>
        {references.map(({ collection, id }) => (
          <li key={`${collection}/${id}`}>
            <a href={addressOf(['collections', collection, id])}>
              <bdi>{`${collection}/${id}`}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
