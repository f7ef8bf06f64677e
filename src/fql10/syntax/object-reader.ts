// Parses the fields of objects and projections.

import { ChainReader } from './chain-reader.ts'
import { objectKeyOf, readString, startsString } from './literals.ts'
import { type Link, type Node, type ProjectedField, type ProjectionNode, shortParameter } from './nodes.ts'
import { char } from './reader.ts'

/** A subclass (parser.ts) parses the expressions in the fields. */
export abstract class ObjectReader extends ChainReader {
  /** The last string literal that was parsed as a possible key. `string` does not parse this literal again. */
  #lastString: { readonly node: Node; readonly end: number } | undefined

  abstract expression(shortAllowed: boolean): Node

  string(): Node {
    const known = this.#lastString
    if (known?.node.start === this.at) {
      this.at = known.end
      return known.node
    }
    return readString(this, this.interpolation)
  }

  readonly interpolation = (): Node => {
    this.skipSpace()
    const node = this.expression(false)
    this.skipSpace()
    this.requires('}')
    return node
  }

  /** True if a key and a colon follow. The position does not change. */
  startsKey(): boolean {
    const start = this.at
    if (startsString(this)) {
      const node = this.string()
      this.#lastString = { node, end: this.at }
    } else if (this.startsName) this.skipName()
    else return false
    this.skipBlanks()
    const found = this.unit() === char.colon
    this.at = start
    return found
  }

  /** The opening brace at `start` has been read. */
  object(start: number): Node {
    const fields: (readonly [string, Node])[] = []
    const checkKey = this.keyCheck()
    this.#fields(() => {
      const keyStart = this.at
      const key = startsString(this) ? objectKeyOf(this.string(), this) : this.anyName()
      checkKey(key, keyStart, this.at)
      this.skipBlanks()
      this.requires(':')
      this.skipSpace()
      fields.push([key, this.expression(false)])
    })
    return { kind: 'object', fields, start, end: this.at }
  }

  /** Reads up to the closing brace. `read` parses one field. */
  #fields(read: (isFirst: boolean) => void): void {
    let isFirst = true
    do {
      this.skipSpace()
      if (!isFirst && this.unit() === char.closeBrace) break
      read(isFirst)
      isFirst = false
      this.skipSpace()
    } while (this.skips(','))
    if (!this.skips('}')) throw this.expected('`,`', '`}`')
  }

  /** Reads a projection, including its opening brace. */
  projection(operand: Node): ProjectionNode {
    const fieldsStart = this.at++
    this.skipSpace()
    const isWhole = this.skips('*')
    const fields: ProjectedField[] = []
    if (isWhole) {
      this.skipSpace()
      this.requires('}')
    } else {
      this.#fields(isFirst => {
        if (!this.startsName) throw isFirst ? this.expected('`*`', 'identifier') : this.expected('identifier')
        fields.push(this.#projectedField())
      })
    }
    const end = this.at
    this.skipBlanks()
    const { start } = operand
    return { kind: 'projection', operand, fieldsStart, fields: isWhole ? undefined : fields, start, end }
  }

  #projectedField(): ProjectedField {
    const nameStart = this.at
    const name = this.name()
    const end = this.at
    this.skipBlanks()
    if (this.skips(':')) {
      this.skipSpace()
      return { name, isBare: false, value: this.expression(true) }
    }
    const operand: Node = { kind: 'name', name: shortParameter, start: nameStart, end: nameStart }
    const link: Link = { kind: 'field', start: nameStart, end, name, nameStart, optional: false }
    const value: Node = { kind: 'chain', operand, links: [link], start: nameStart, end }
    return { name, isBare: true, value: this.unit() === char.openBrace ? this.projection(value) : value }
  }
}
