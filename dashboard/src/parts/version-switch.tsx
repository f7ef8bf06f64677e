// A switch between the two versions of the query language, and a hint for a text in the other version.

import { useMemo } from 'preact/hooks'
import { NotationError, otherVersionOf, type Version } from '../language.ts'
import { ServiceError } from '../service/faults.ts'
import { type Json, listAt, textAt } from '../wire/json.ts'
import { Button } from './button.tsx'

interface SwitchProps {
  readonly version: Version
  readonly onChange: (version: Version) => void
}

export function VersionSwitch({ version, onChange }: SwitchProps) {
  return (
    <fieldset class="switch" aria-label="Language">
      {(['4', '10'] as const).map(each => (
        <Button key={each} aria-pressed={version === each} onClick={() => onChange(each)}>
          Version {each}
        </Button>
      ))}
    </fieldset>
  )
}

/** Error codes of version 10 for a text that is not a query. */
const invalidCodes: readonly (string | undefined)[] = ['invalid_query', 'unbound_variable']

interface HintProps extends SwitchProps {
  readonly text: string
  readonly error: Error | undefined
  /** If `error` is not a {@link ServiceError}, the errors in the explanation are used. */
  readonly explanation: Json | undefined
}

/** Suggests a switch for an invalid text that looks like a query of the other version. */
export function VersionHint({ text, version, error, explanation, onChange }: HintProps) {
  const codes =
    error instanceof ServiceError
      ? error.faults.map(({ code }) => code)
      : listAt(explanation, 'errors').map(fault => textAt(fault, 'code'))
  const isInvalid = error instanceof NotationError || codes.some(code => invalidCodes.includes(code))
  const other = useMemo(
    () => (isInvalid ? otherVersionOf(text, version) : undefined),
    [isInvalid, text, version],
  )
  if (other === undefined) return null
  return (
    <p class="hint">
      The query looks like version {other} of the language.{' '}
      <Button onClick={() => onChange(other)}>Switch to version {other}</Button>
    </p>
  )
}
