// Coordinates two editors of one object on a page: while one editor has unsaved input, the other editor is read-only.
// If both editors had unsaved input, saving one editor would discard the input of the other.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The names of the editors with unsaved input. */
const unsaved = signal<readonly string[]>([])

/** The hint of the editor that is read-only. */
export const otherDraftHint = 'The other editor on this page has unsaved changes. Save or discard them first.'

/** Registers unsaved input of the editor `name`. Returns true while another editor has unsaved input. */
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
