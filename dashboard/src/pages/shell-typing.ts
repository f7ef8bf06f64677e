// Marks while the user types a query: syntax errors and unknown names of version 4, and the errors that the service finds
// by checking a query of version 10, which does not run. Incomplete queries have no marks, because more input may
// complete them.

import { useEffect, useState } from 'preact/hooks'
import { NotationError, parseQueries } from '../language.ts'
import type { Mark } from '../parts/code-editor.ts'
import { checkQuery, mayCheck } from '../service/query-checks.ts'
import type { ShellTab } from '../service/shell-state.ts'
import { marksInSummary, marksOf } from './shell-queries.ts'

/** Milliseconds of pause before the text is checked. A name that is still being typed gets no mark. */
const pauseMs = 400

/** Longer texts are checked only when they run, because parsing them would delay typing. */
const checkedCharsMax = 20_000

/** Checks a text that has not run yet. */
export function useTypingMarks({ text, version, notation }: ShellTab): readonly Mark[] {
  const [marks, setMarks] = useState<readonly Mark[]>([])
  useEffect(() => {
    setMarks([])
    const hasMarks = version === '4' ? notation === 'text' : mayCheck()
    if (!hasMarks || text.trim() === '' || text.length > checkedCharsMax) return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const found = version === '4' ? syntaxMarks(text) : await typeMarks(text, controller.signal)
      if (!controller.signal.aborted) setMarks(found)
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text, version, notation])
  return marks
}

/** The marks are a convenience, so no error of the request is shown. */
async function typeMarks(text: string, signal: AbortSignal): Promise<readonly Mark[]> {
  const summary = await checkQuery(text, signal).catch(() => '')
  const end = text.trimEnd().length
  return marksInSummary(text, summary).filter(({ from }) => from < end)
}

function syntaxMarks(text: string): readonly Mark[] {
  try {
    parseQueries(text, 'text')
    return []
  } catch (cause) {
    if (!(cause instanceof NotationError)) throw cause
    return cause.isIncomplete ? [] : marksOf(cause)
  }
}
