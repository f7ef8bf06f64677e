// The choice between the two notations. Choosing converts what is written; where that cannot be done nothing changes.

import { useRef } from 'preact/hooks'
import type { Notation } from '../language.ts'
import { NotationError } from '../language.ts'
import { heavy } from '../service/heavy.ts'
import type { Mark } from './code-editor.ts'
import { useAction } from './load.tsx'

/** The marks that an error puts under the text. */
export function marksOf(error: Error | undefined): readonly Mark[] {
  return error instanceof NotationError
    ? [{ from: error.from, to: error.to, message: error.message }]
    : noMarks
}

const noMarks: readonly Mark[] = []

interface SwitchProps {
  readonly notation: Notation
  readonly onChange: (notation: Notation) => void
}

/** Chooses between the two notations. */
export function NotationSwitch({ notation, onChange }: SwitchProps) {
  const choices = [
    ['text', 'Text'],
    ['json', 'JSON'],
  ] as const
  return (
    <fieldset class="switch" aria-label="Notation">
      {choices.map(([choice, name]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={notation === choice}
          onClick={() => onChange(choice)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}

/** Conversions of a text, and why the last one could not be made. */
interface Conversion {
  readonly error: Error | undefined
  /** Forgets the error, and a conversion that is under way: the text is another now. */
  readonly clear: () => void
  readonly start: (text: string, from: Notation, to: Notation, onDone: (text: string) => void) => void
}

/** Converts values or queries between the notations. */
export function useConversion(what: 'value' | 'query'): Conversion {
  const { error, clear, start } = useAction()
  const turn = useRef(0)
  return {
    error,
    clear: () => {
      turn.current++
      clear()
    },
    start: (text, from, to, onDone) => {
      if (from === to) return
      const own = ++turn.current
      start(async () => {
        const converted = await heavy({ kind: 'convert', what, text, from, to }, text.length)
        // Who has gone on typing meanwhile keeps what they typed.
        if (own === turn.current) onDone(converted)
      })
    },
  }
}
