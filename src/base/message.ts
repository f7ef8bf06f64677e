// Defines error texts in which quoted values are separate from the words of the service. `msg` is a template tag, so
// only literals in the source code become words of the service. The query log stores the template without the quoted
// values: see docs/query-logs.md. An error text that is a plain string has no template. The query log does not store it
// at all.

/**
 * The pieces of a text, with one quoted value between adjacent pieces. A template is a plain object without methods.
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
 * Returns the message of a template literal. Inserted values are quoted; inserted messages keep their own pieces and
 * quoted values.
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
 * Returns a message for a word of the service that is not a literal, such as a code or a line number. Never pass client
 * input.
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
