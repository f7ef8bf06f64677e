// A table that scrolls sideways, by touch and by keyboard, if it is wider than the page.

import { type ComponentChildren, isValidElement, type VNode } from 'preact'

interface NamedColumn {
  readonly text: string
  readonly kind: 'number' | 'unseen'
}

/** A heading, a heading with its kind, or a heading cell with more than text. */
type Column = string | NamedColumn | VNode

/** A right-aligned column. */
export const numbers = (text: string): Column => ({ text, kind: 'number' })

/** Only screen readers announce the heading. */
export const buttons = (text: string): Column => ({ text, kind: 'unseen' })

interface Properties {
  /** Label for screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  /** A class of the style sheet. */
  readonly look?: string
  readonly children: ComponentChildren
}

export function Table({ label, columns, look, children }: Properties) {
  return (
    <section class="table-scroll" tabIndex={0} aria-label={label}>
      <table class={look}>
        <thead>
          <tr>{columns.map(heading)}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

function heading(column: Column, at: number): VNode {
  if (isHeadingCell(column)) return column
  const { text, kind } = typeof column === 'string' ? { text: column, kind: undefined } : column
  return (
    <th key={at} scope="col" class={kind === 'number' ? 'number' : undefined}>
      {kind === 'unseen' ? <span class="unseen">{text}</span> : text}
    </th>
  )
}

const isHeadingCell = (column: Column): column is VNode => isValidElement(column)
