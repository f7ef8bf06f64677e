// Pretty-prints JSON, for clients in a terminal and for responses to failed requests, without parsing it, so that the
// spelling of numbers does not change.

import { unfinished, valueEnd } from './json-scan.ts'

/** An array or object whose compact form has at most this length is written on one line. */
const oneLineChars = 60

/** Formats JSON text that has no white space between its tokens, with two spaces per level and a newline at the end. */
export function prettyPrint(json: string): string {
  let text = ''
  let newline = '\n'
  let oneLineEnd = -1
  for (let at = 0; at < json.length; ) {
    const token = tokenAt(json, at)
    const opensAt = at
    const inOneLine = at <= oneLineEnd
    at += token.length
    switch (token) {
      case '{':
      case '[': {
        const end = inOneLine ? unfinished : valueEnd(json, opensAt, opensAt + oneLineChars)
        if (end !== unfinished) oneLineEnd = end - 1
        if (json[at] === '}' || json[at] === ']') {
          text += token + json[at++]
        } else if (opensAt <= oneLineEnd) {
          text += `${token} `
        } else {
          newline += '  '
          text += token + newline
        }
        break
      }
      case '}':
      case ']':
        if (!inOneLine) newline = newline.slice(0, -2)
        text += (inOneLine ? ' ' : newline) + token
        break
      case ',':
        text += inOneLine ? ', ' : `,${newline}`
        break
      case ':':
        text += ': '
        break
      default:
        text += token
    }
  }
  return `${text}\n`
}

/** A token is a punctuation mark, string, number or word. */
function tokenAt(json: string, start: number): string {
  const first = json[start] as string
  if (isPunctuation(first)) return first
  const end = valueEnd(json, start)
  return json.slice(start, end === unfinished ? json.length : end)
}

function isPunctuation(unit: string): boolean {
  return unit === '{' || unit === '}' || unit === '[' || unit === ']' || unit === ',' || unit === ':'
}
