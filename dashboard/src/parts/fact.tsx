// An entry of a `dl` of the class `record-facts`.

import type { ComponentChildren } from 'preact'

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
