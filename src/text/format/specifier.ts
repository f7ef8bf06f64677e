// Parses format strings: literal text, and specifiers of the form `%[index$][flags][width][.precision]conversion`. The
// conversions are some of those of java.util.Formatter, and `@` and `^`.

/**
 * `conversion`: the conversion is unknown, its flags, width and precision are incompatible, a number is too large, or
 * the flag `<` has no previous argument. `suffix`: the part of a date or time is unknown, or the value does not have
 * this part. `text` is the text of the specifier.
 */
export class FormatError extends Error {
  override name = 'FormatError'
  readonly reason: 'conversion' | 'suffix'
  readonly text: string
  constructor(reason: 'conversion' | 'suffix', text: string) {
    super(text)
    this.reason = reason
    this.text = text
  }
}

export interface Specifier {
  readonly text: string
  /**
   * The number of the argument, from 1. `previous` (flag `<`) repeats the previous argument; undefined: the next
   * argument.
   */
  readonly index: number | 'previous' | undefined
  readonly leftAligned: boolean
  readonly alternate: boolean
  readonly plus: boolean
  readonly space: boolean
  readonly zeros: boolean
  readonly grouped: boolean
  readonly parentheses: boolean
  readonly width: number | undefined
  readonly precision: number | undefined
  readonly conversion: Conversion
  /** The conversion is a capital letter, so the formatted text is converted to upper case. */
  readonly capitals: boolean
  /** The part of a date or time, for the conversion `t`; undefined: the whole date or time. */
  readonly suffix: string | undefined
}

/** Conversion character in lower case. `@` and `^`, which Java does not have, convert any value to JSON. */
type Conversion = 'd' | 'x' | 'o' | 'f' | 'e' | 'g' | 's' | 'b' | 't' | '@' | '^' | '%' | 'n'

/** Conversions that can also be capital letters. */
const capitalizable = 'xegsbt'

const specifierPattern =
  /%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?(?:([tT])([A-Za-z]?)|([dxXofeEgGsSbBn%@^]))/y

/** Throws {@link FormatError}. */
export function parseFormat(format: string): (string | Specifier)[] {
  const parts: (string | Specifier)[] = []
  let from = 0
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', from)) {
    if (at > from) parts.push(format.slice(from, at))
    specifierPattern.lastIndex = at
    const match = specifierPattern.exec(format)
    if (!match) throw new FormatError('conversion', unreadable(format, at))
    parts.push(specifierOf(match))
    from = specifierPattern.lastIndex
  }
  if (from < format.length) parts.push(format.slice(from))
  return parts
}

/** The text of an invalid specifier for the error message: what has the form of a specifier at `at`, at least `%`. */
function unreadable(format: string, at: number): string {
  const like = /%(?:\d{1,9}\$)?[-#+ 0,(<]{0,9}\d{0,9}(?:\.\d{1,9})?[^\s\d]?/y
  like.lastIndex = at
  return like.exec(format)?.[0] ?? '%'
}

function specifierOf(match: RegExpExecArray): Specifier {
  const [text, index, flags = '', width, precision, date, suffix, letter] = match
  const written = (date ?? letter) as string
  const conversion = written.toLowerCase() as Conversion
  const has = (flag: string) => flags.includes(flag)
  const specifier: Specifier = {
    text,
    index: has('<') ? 'previous' : index === undefined ? undefined : numberIn(index, text),
    leftAligned: has('-'),
    alternate: has('#'),
    plus: has('+'),
    space: has(' '),
    zeros: has('0'),
    grouped: has(','),
    parentheses: has('('),
    width: width === undefined ? undefined : numberIn(width, text),
    precision: precision === undefined ? undefined : numberIn(precision, text),
    conversion,
    capitals: written !== conversion && capitalizable.includes(conversion),
    suffix: suffix || undefined,
  }
  if (new Set(flags).size !== flags.length || !isSound(specifier)) throw new FormatError('conversion', text)
  return specifier
}

function numberIn(digits: string, text: string): number {
  const number = Number(digits)
  if (number >= 2 ** 31) throw new FormatError('conversion', text)
  return number
}

/** Returns whether flags, width and precision are compatible with the conversion and with each other. */
function isSound(specifier: Specifier): boolean {
  const { alternate, conversion, grouped, leftAligned, parentheses, plus, precision, space, width, zeros } =
    specifier
  if ((leftAligned || zeros) && width === undefined) return false
  if ((leftAligned && zeros) || (plus && space)) return false
  const signed = plus || space || parentheses
  switch (conversion) {
    case 'd':
      return !alternate && precision === undefined
    case 'x':
    case 'o':
      return !signed && !grouped && precision === undefined
    case 'f':
      return true
    case 'e':
      return !grouped
    case 'g':
      return !alternate
    case 's':
    case 'b':
    case '@':
    case '^':
      return !signed && !grouped && !alternate && !zeros
    case 't':
    case '%':
      return !signed && !grouped && !alternate && !zeros && precision === undefined
    case 'n':
      return !signed && !grouped && !alternate && width === undefined && precision === undefined
  }
}
