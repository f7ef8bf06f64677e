// A button that does not submit the form around it. In HTML, submitting is the default of every button.

import type { ButtonHTMLAttributes } from 'preact'

export function Button(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" {...props} />
}
