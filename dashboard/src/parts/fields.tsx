// Labelled fields of forms.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'password' | 'number' | 'search' | 'datetime-local'
  readonly isRequired?: boolean
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly hasFocus?: boolean
  readonly isMono?: boolean
  readonly step?: string
  /** The id of a list of suggestions. */
  readonly list?: string
}

/** A field of one line. */
export function Field(props: FieldProps) {
  const id = useId()
  const { label, hint, value, onInput, type = 'text', isRequired, autoComplete = 'off' } = props
  // The types of Preact tell the kinds of fields apart, and know no union of them.
  const kind = { type } as { readonly type: 'text' }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...kind}
        value={value}
        required={isRequired}
        autoComplete={autoComplete}
        placeholder={props.placeholder}
        autoFocus={props.hasFocus}
        step={props.step}
        list={props.list}
        spellcheck={false}
        class={props.isMono ? 'mono' : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={event => onInput(event.currentTarget.value)}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChange: (value: T) => void
  readonly hint?: string
}

/** A choice of one among several. */
export function Choice<T extends string>({ label, value, options, onChange, hint }: ChoiceProps<T>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={event => onChange(event.currentTarget.value as T)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface CheckProps {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly isDisabled?: boolean
}

/** A switch. */
export function Check({ label, isOn, onChange, isDisabled }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={event => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
