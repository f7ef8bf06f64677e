// Labelled fields of forms.

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

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
  readonly suggestions?: readonly string[]
}

export function Field(props: FieldProps) {
  const id = useId()
  const { label, hint, value, onInput, type = 'text', isRequired, autoComplete = 'off' } = props
  // Preact has a separate TypeScript type for each input type, and accepts no union of these types.
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
        list={props.suggestions && `${id}-list`}
        spellcheck={false}
        class={props.isMono ? 'mono' : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={event => onInput(event.currentTarget.value)}
      />
      {props.suggestions && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map(each => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Asks for the name of a new object. The field gets the focus. */
export function NameField(props: Pick<FieldProps, 'value' | 'onInput' | 'placeholder' | 'hint'>) {
  return <Field label="Name" isRequired hasFocus isMono {...props} />
}

/** Options whose texts are their values. */
export const optionsOf = <T extends string>(values: readonly T[]) => values.map(each => [each, each] as const)

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChange: (value: T) => void
  readonly hint?: string
}

/** Options of a `select` element. With more, the user types to find an option. */
const listedMax = 1000

export function Choice<T extends string>(props: ChoiceProps<T>) {
  const id = useId()
  const { label, value, options, onChange, hint } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options.length > listedMax ? (
        <TypedChoice {...props} id={id} />
      ) : (
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
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

const offeredMax = 50

/** Suggests the options that contain the typed text. On blur, a text that is not an option is reset. */
function TypedChoice<T extends string>({
  id,
  value,
  options,
  onChange,
  hint,
}: ChoiceProps<T> & { id: string }) {
  const textOf = (wanted: T) => options.find(([option]) => option === wanted)?.[1] ?? ''
  const [text, setText] = useState<string | undefined>(undefined)
  const typed = (text ?? '').toLowerCase()
  const offered = options.filter(([, each]) => each.toLowerCase().includes(typed)).slice(0, offeredMax)
  const type = (entered: string) => {
    setText(entered)
    const [option] = options.find(([, each]) => each === entered) ?? []
    if (option !== undefined) onChange(option)
  }
  return (
    <>
      <input
        id={id}
        list={`${id}-options`}
        autoComplete="off"
        spellcheck={false}
        value={text ?? textOf(value)}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onFocus={event => event.currentTarget.select()}
        onInput={event => type(event.currentTarget.value)}
        onBlur={() => setText(undefined)}
      />
      <datalist id={`${id}-options`}>
        {offered.map(([option, each]) => (
          <option key={option} value={each} />
        ))}
      </datalist>
    </>
  )
}

interface CheckProps {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly isDisabled?: boolean
}

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
