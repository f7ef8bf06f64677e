// Pages with two editors of one object: while one holds input that is not saved, the other only shows. Otherwise saving
// one of them would take away what stands in the other.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The names of the editors of the page that hold input that is not saved. */
const unsaved = signal<readonly string[]>([])

/** What to say where the other editor is being used. */
export const otherDraftHint = 'The other editor on this page has unsaved changes: save or discard them first.'

/** Tells whether `name`'s editor has unsaved input; returns whether another editor of the page has. */
export function useOtherDraft(name: string, isDirty: boolean): boolean {
  useEffect(() => {
    if (!isDirty) return
    unsaved.value = [...unsaved.value, name]
    return () => {
      unsaved.value = unsaved.value.filter(other => other !== name)
    }
  }, [name, isDirty])
  return unsaved.value.some(other => other !== name)
}
