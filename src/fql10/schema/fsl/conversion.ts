// From the outline of a file to its items: what all kinds of items have in common. Everything that is wrong is noted, and
// what can be understood is made all the same.

import { type Message, msg } from '../../../base/message.ts'
import type { Diagnostic, Remark } from '../../failure/failure.ts'
import type { LambdaNode, Node } from '../../syntax/nodes.ts'
import type { Source } from '../../syntax/source.ts'
import { isPlainName } from '../field-names.ts'
import type { PredicatePlace } from './nodes.ts'
import type {
  NamePlace,
  OutlineBlock,
  OutlineExpression,
  OutlineItem,
  OutlineMember,
  OutlineValue,
  SourceRange,
} from './outline.ts'

/** What belongs to an item that ends with it. */
const semicolons = /(?:[ \t]*;)*/y

/** The word by which messages call an item. */
export function wordOf(item: OutlineItem): NamePlace {
  return item.form === 'field' ? item.name : item.keyword
}

/** The conversion of one file. */
export class Conversion {
  readonly source: Source
  readonly faults: Diagnostic[] = []

  constructor(source: Source) {
    this.source = source
  }

  /** Notes that something is wrong. */
  fault(message: Message, place: SourceRange, parts: Partial<Diagnostic> = {}): undefined {
    const { end, start } = place
    this.faults.push({ name: 'error', message, span: { source: this.source, start, end }, ...parts })
  }

  /** The hint that something has been there before. */
  hint(message: string, { end, start }: SourceRange): Remark {
    return { name: 'hint', message, span: { source: this.source, start, end } }
  }

  /** The name of an item that has to have one. */
  nameOf({ keyword, name }: OutlineMember): NamePlace | undefined {
    return name ?? this.fault(msg`Missing required name`, keyword)
  }

  /** The same, and it is an identifier. */
  identifierOf(item: OutlineMember): NamePlace | undefined {
    const name = this.nameOf(item)
    return name && this.identifier(name)
  }

  /** A name that has to be an identifier. */
  identifier(name: NamePlace): NamePlace | undefined {
    return isPlainName(name.text) ? name : this.fault(msg`Invalid identifier \`${name.text}\``, name)
  }

  /** Refuses annotations on what takes none. */
  refuseAnnotations({ annotations: [first] }: OutlineItem): void {
    if (first !== undefined) this.fault(msg`Annotations are not allowed here`, first)
  }

  refuseName({ name }: OutlineMember): void {
    if (name !== undefined) this.fault(msg`Name is not allowed here`, name)
  }

  /** The value of an item that has to have one. */
  valueOf(item: OutlineMember): OutlineValue | undefined {
    if (item.value !== undefined) return item.value
    semicolons.lastIndex = item.end
    const end = item.end + (semicolons.exec(this.source.text)?.[0].length ?? 0)
    return this.fault(msg`Missing required value`, { start: item.keyword.start, end })
  }

  blockOf(item: OutlineMember): OutlineBlock | undefined {
    const value = this.valueOf(item)
    if (value === undefined || value.kind === 'block') return value
    return this.fault(msg`Expected a block`, errorPlace(value))
  }

  expressionOf(item: OutlineMember): OutlineExpression | undefined {
    const value = this.valueOf(item)
    if (value === undefined || value.kind === 'expression') return value
    return this.fault(msg`Expected an expression literal`, value)
  }

  /** The predicate of a block that holds nothing else. */
  predicate(block: OutlineBlock): PredicatePlace | undefined {
    const [only, ...others] = block.members
    if (only === undefined || others.length > 0) {
      return this.fault(msg`Expected a single predicate member`, block)
    }
    if (only.form !== 'member' || only.keyword.text !== 'predicate') {
      return this.fault(msg`Expecting a predicate`, only)
    }
    this.refuseAnnotations(only)
    this.refuseName(only)
    const value = this.expressionOf(only)
    if (value === undefined) return undefined
    if (lambdaInParentheses(value.node) === undefined) {
      return this.fault(msg`Expected lambda predicate`, errorPlace(value))
    }
    return { block, lambda: value.node }
  }

  /** A predicate, or nothing: the block may be missing. */
  optionalPredicate({ value }: OutlineMember): PredicatePlace | undefined {
    if (value === undefined) return undefined
    return value.kind === 'block'
      ? this.predicate(value)
      : this.fault(msg`Expected a block`, errorPlace(value))
  }
}

/** Notes what may stand only once and stands twice. */
export class Onces {
  readonly #conversion: Conversion
  readonly #places = new Map<string, SourceRange>()

  constructor(conversion: Conversion) {
    this.#conversion = conversion
  }

  /** Adds a thing with a name; whether it is the first. `what`: the kind of thing in the message. */
  addNamed(what: string, name: NamePlace): boolean {
    return this.add(`${what} \`${name.text}\``, name)
  }

  /** The same for what has none. */
  add(what: string, place: SourceRange): boolean {
    const first = this.#places.get(what)
    if (first === undefined) this.#places.set(what, place)
    else {
      const remarks = [this.#conversion.hint('Originally defined here', first)]
      this.#conversion.fault(msg`Duplicate ${what}`, place, { remarks })
    }
    return first === undefined
  }
}

/** The place of a value in errors: of operations it is that of their right side. */
export function errorPlace(value: OutlineValue | Node): SourceRange {
  if (value.kind === 'expression') return errorPlace(value.node)
  return value.kind === 'binary' ? errorPlace(value.right) : value
}

/** The expression that a value is; undefined for braces and brackets. */
export function nodeOf(value: OutlineValue): Node | undefined {
  return value.kind === 'expression' ? value.node : undefined
}

/** The lambda, long or short, that stands in parentheses. */
export function lambdaInParentheses(node: Node): LambdaNode | undefined {
  return node.kind === 'group' && node.inner.kind === 'lambda' ? node.inner : undefined
}
