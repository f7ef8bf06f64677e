// Texts as doubles, as Java reads them: blanks around, a suffix, hexadecimal ones, and the names of what is no number.

const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[dDfF]?$/
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)[dDfF]?$/

/** The double that a text is, undefined for any other text. */
export function javaDouble(text: string): number | undefined {
  // Java takes all characters up to the blank for blanks here.
  const trimmed = text.replace(/^[\0-\x20]+/, '').replace(/[\0-\x20]+$/, '')
  const named = /^([+-]?)(NaN|Infinity)$/.exec(trimmed)
  if (named !== null) {
    if (named[2] === 'NaN') return Number.NaN
    return named[1] === '-' ? -Infinity : Infinity
  }
  if (decimal.test(trimmed)) return Number(trimmed.replace(/[dDfF]$/, ''))
  const parts = hexadecimal.exec(trimmed)
  if (parts === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  if (whole + fraction === '') return undefined
  const magnitude = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length)
  return sign === '-' ? -magnitude : magnitude
}
