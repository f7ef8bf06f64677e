// An error text consists of words of the service and of quoted values, which may contain data of the client. This file
// keeps the two apart. The tag `msg` is used before a template literal: the literal parts become words of the service,
// and the inserted values become quoted values. The query log stores only the words of the service: see
// docs/query-logs.md. If an error text is a plain string, the query log does not store the text.

/**
 * The parts of an error text: `pieces` are the words of the service, with one quoted value between adjacent pieces. A
 * template needs no methods, so a plain object can be a template.
 */
export interface Template {
  readonly pieces: readonly string[]
  readonly quoted: readonly string[]
}

/** A text with its template. `toString` returns the complete text. */
export class Message implements Template {
  readonly pieces: readonly string[]
  readonly quoted: readonly string[]

  constructor(pieces: readonly string[], quoted: readonly string[]) {
    this.pieces = pieces
    this.quoted = quoted
  }

  toString(): string {
    const { pieces, quoted } = this
    let text = pieces[0] as string
    for (let at = 0; at < quoted.length; at++) text += (quoted[at] as string) + pieces[at + 1]
    return text
  }
}

/**
 * Returns the message of a template literal. Inserted values become quoted values; inserted messages keep their own
 * pieces and quoted values.
 */
export function msg(literal: TemplateStringsArray, ...values: readonly unknown[]): Message {
  const pieces = [literal[0] as string]
  const quoted: string[] = []
  for (const [at, value] of values.entries()) {
    const behind = literal[at + 1] as string
    if (value instanceof Message) {
      pieces.push(`${pieces.pop()}${value.pieces[0]}`, ...value.pieces.slice(1))
      quoted.push(...value.quoted)
      pieces.push(`${pieces.pop()}${behind}`)
    } else {
      quoted.push(String(value))
      pieces.push(behind)
    }
  }
  return new Message(pieces, quoted)
}

/**
 * Returns a message that consists only of a word of the service. Used for words that are not literals in the source
 * code, such as a code or a line number. Never pass client input.
 */
export function own(word: string | number): Message {
  return new Message([String(word)], [])
}

/** Joins all nonempty messages with a separator. */
export function joinMessages(messages: readonly Message[], separator: string): Message {
  const [first = msg``, ...others] = messages.filter(
    ({ pieces, quoted }) => quoted.length > 0 || pieces[0] !== '',
  )
  return others.reduce((text, next) => msg`${text}${own(separator)}${next}`, first)
}

/** Returns `text` itself if it is a message, or an empty message for a plain string. */
export function messageOf(text: string | Message): Message {
  return typeof text === 'string' ? msg`` : text
}
