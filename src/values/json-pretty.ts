// JSON laid out for people: for clients that run in a terminal, and for responses to failed requests.

/** Arrays and objects of fewer characters in compact form stay on one line. */
const oneLineChars = 60

/** Lays out JSON text that has no white space between its tokens: two spaces per level, a newline at the end. */
export function prettyPrint(json: string): string {
  const ends = containerEnds(json)
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
        const end = ends.get(opensAt) ?? json.length
        if (!inOneLine && end - opensAt < oneLineChars) oneLineEnd = end
        if (end === at) {
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

/** For the offset of each `{` and `[` the offset of its counterpart. */
function containerEnds(json: string): Map<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < json.length; ) {
    const token = tokenAt(json, at)
    if (token === '{' || token === '[') open.push(at)
    else if (token === '}' || token === ']') ends.set(open.pop() ?? 0, at)
    at += token.length
  }
  return ends
}

/** The punctuation mark, string, number or word at an offset. */
function tokenAt(json: string, start: number): string {
  const first = json[start] as string
  if (isPunctuation(first)) return first
  let end = start + 1
  if (first === '"') {
    while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1
    return json.slice(start, end + 1)
  }
  while (end < json.length && !isPunctuation(json[end] as string)) end++
  return json.slice(start, end)
}

function isPunctuation(unit: string): boolean {
  return unit === '{' || unit === '}' || unit === '[' || unit === ']' || unit === ',' || unit === ':'
}
