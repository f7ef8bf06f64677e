// Marks of syntax errors and unknown names while the user types a query of version 4. Incomplete queries have no marks,
// because more input may complete them.

import { useEffect, useState } from 'preact/hooks'
import { NotationError, parseQueries } from '../language.ts'
import type { Mark } from '../parts/code-editor.ts'
import type { ShellTab } from '../service/shell-state.ts'
import { marksOf } from './shell-queries.ts'

/** Milliseconds of pause before the text is checked. A name that is still being typed gets no mark. */
const pauseMs = 400

/** Longer texts are checked only when they run, because parsing them would delay typing. */
const checkedCharsMax = 20_000

/** For a text that has not run yet. */
export function useTypingMarks({ text, version, notation }: ShellTab): readonly Mark[] {
  const [marks, setMarks] = useState<readonly Mark[]>([])
  useEffect(() => {
    setMarks([])
    if (version !== '4' || notation !== 'text' || text.length > checkedCharsMax) return
    const timer = setTimeout(() => setMarks(syntaxMarks(text)), pauseMs)
    return () => clearTimeout(timer)
  }, [text, version, notation])
  return marks
}

function syntaxMarks(text: string): readonly Mark[] {
  if (text.trim() === '') return []
  try {
    parseQueries(text, 'text')
    return []
  } catch (cause) {
    if (!(cause instanceof NotationError)) throw cause
    return cause.isIncomplete ? [] : marksOf(cause)
  }
}
