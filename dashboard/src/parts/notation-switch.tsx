// Switches between the two notations of version 4, text and JSON, and converts the content of the editor. If the
// conversion fails, nothing changes.

import { useRef } from 'preact/hooks'
import type { Notation } from '../language.ts'
import { NotationError } from '../language.ts'
import { runTextTask } from '../service/text-task-runner.ts'
import { Button } from './button.tsx'
import type { Mark } from './code-editor.ts'
import { useAction } from './load.tsx'

/** Underlines the position of an error of the notation; returns the same empty list for other errors. */
export function errorMarks(error: Error | undefined): readonly Mark[] {
  return error instanceof NotationError
    ? [{ from: error.from, to: error.to, message: error.message }]
    : noMarks
}

const noMarks: readonly Mark[] = []

interface SwitchProps {
  readonly notation: Notation
  readonly onChange: (notation: Notation) => void
}

export function NotationSwitch({ notation, onChange }: SwitchProps) {
  const choices = [
    ['text', 'Text'],
    ['json', 'JSON'],
  ] as const
  return (
    <fieldset class="switch" aria-label="Notation">
      {choices.map(([choice, name]) => (
        <Button key={choice} aria-pressed={notation === choice} onClick={() => onChange(choice)}>
          {name}
        </Button>
      ))}
    </fieldset>
  )
}

/** A conversion of the text of an editor to the other notation. */
interface Conversion {
  readonly error: Error | undefined
  /** Removes the error, and discards the result or error of a running conversion, because the text has changed. */
  readonly clear: () => void
  readonly start: (text: string, from: Notation, to: Notation, onDone: (text: string) => void) => void
}

export function useConversion(what: 'value' | 'query'): Conversion {
  const { error, clear, start } = useAction()
  const conversions = useRef(0)
  return {
    error,
    clear: () => {
      conversions.current++
      clear()
    },
    start: (text, from, to, onDone) => {
      if (from === to) return
      const own = ++conversions.current
      const isDiscarded = () => own !== conversions.current
      start(async () => {
        try {
          const converted = await runTextTask({ kind: 'convert', what, text, from, to }, text.length)
          if (!isDiscarded()) onDone(converted)
        } catch (cause) {
          if (!isDiscarded()) throw cause
        }
      })
    },
  }
}
