// A table that scrolls sideways where it is wider than the page, by touch and by keyboard.

import { type ComponentChildren, isValidElement, type VNode } from 'preact'

interface NamedColumn {
  readonly text: string
  readonly kind: 'number' | 'unseen'
}

/** A column by its heading, by its heading and kind, or by a heading cell that holds more than text. */
type Column = string | NamedColumn | VNode

/** A column of numbers, whose heading stands at the right as they do. */
export const numbers = (text: string): Column => ({ text, kind: 'number' })

/** A column of buttons, whose heading only screen readers tell. */
export const buttons = (text: string): Column => ({ text, kind: 'unseen' })

interface Properties {
  /** What screen readers call it. */
  readonly label: string
  readonly columns: readonly Column[]
  /** A class of style sheets. */
  readonly look?: string
  /** The rows. */
  readonly children: ComponentChildren
}

/** The frame of a table around its rows. */
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
  if (typeof column === 'string') {
    return (
      <th key={at} scope="col">
        {column}
      </th>
    )
  }
  return column.kind === 'number' ? (
    <th key={at} scope="col" class="number">
      {column.text}
    </th>
  ) : (
    <th key={at} scope="col">
      <span class="unseen">{column.text}</span>
    </th>
  )
}

const isHeadingCell = (column: Column): column is VNode => isValidElement(column)
