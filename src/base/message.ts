// An error text consists of words of the service and of quoted values, which may contain data of the client. The query
// log stores only the words of the service (docs/query-logs.md), and nothing of a text that is a plain string. The tag
// `msg` separates both: the literal parts of a template are words of the service, and the inserted values are quoted
// values.

/**
 * `pieces` are the words of the service, with one quoted value between adjacent pieces. Has no methods, so that a plain
 * object can be a template.
 */
export interface Template {
  readonly pieces: readonly string[]
  readonly quoted: readonly string[]
}

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

/** Inserted values become quoted values; inserted messages keep their own pieces and quoted values. */
export function msg(literal: TemplateStringsArray, ...values: readonly unknown[]): Message {
  const pieces = [literal[0] as string]
  const quoted: string[] = []
  for (const [at, value] of values.entries()) {
    const after = literal[at + 1] as string
    if (value instanceof Message) {
      pieces.push(`${pieces.pop()}${value.pieces[0]}`, ...value.pieces.slice(1))
      quoted.push(...value.quoted)
      pieces.push(`${pieces.pop()}${after}`)
    } else {
      quoted.push(String(value))
      pieces.push(after)
    }
  }
  return new Message(pieces, quoted)
}

/**
 * A word of the service that is not a literal in the source code, such as a code or a line number. Never pass client
 * input.
 */
export function own(word: string | number): Message {
  return new Message([String(word)], [])
}

/** Skips empty messages. */
export function joinMessages(messages: readonly Message[], separator: string): Message {
  const [first = msg``, ...others] = messages.filter(
    ({ pieces, quoted }) => quoted.length > 0 || pieces[0] !== '',
  )
  return others.reduce((text, next) => msg`${text}${own(separator)}${next}`, first)
}

/** A plain string becomes an empty message. */
export function messageOf(text: string | Message): Message {
  return typeof text === 'string' ? msg`` : text
}
