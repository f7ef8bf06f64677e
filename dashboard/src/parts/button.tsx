// A button that runs an action.

import type { ButtonHTMLAttributes } from 'preact'

/** A button that does not submit the form around it. In HTML, submitting is the default of every button. */
export function Button(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" {...props} />
}
