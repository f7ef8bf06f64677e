// Coordinates two editors of one object on a page: while one has unsaved input, the other is read-only, because saving
// one would discard the input of the other.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Names of editors with unsaved input. */
const unsaved = signal<readonly string[]>([])

export const otherDraftHint = 'The other editor on this page has unsaved changes. Save or discard them first.'

/** True while an editor other than `name` has unsaved input. */
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
