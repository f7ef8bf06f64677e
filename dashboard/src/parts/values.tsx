// Shows values: one line in rows, or a tree. Stored text is always rendered as a text node, so it cannot become markup.
// Long texts are truncated, and `bdi` elements confine direction control characters to their cell.

import { useState } from 'preact/hooks'
import { addressOf } from '../router.ts'
import { isMap, type Json, textAt } from '../wire/json.ts'
import { type Native, natives, type RefName, refOf, sectionOf, tagOf } from '../wire/refs.ts'
import { Button } from './button.tsx'
import { NameLink } from './link.tsx'

const cellChars = 80
const treeChars = 2000
const treeItems = 100

/** Returns undefined if there is no such page. */
function addressOfRef(ref: RefName): string | undefined {
  if (ref.isElsewhere) return undefined
  if (!ref.isNative) return addressOf(['collections', ref.collection, ref.id])
  if (!isNative(ref.collection)) return undefined
  if (ref.collection === 'collections') {
    return isNative(ref.id) ? undefined : addressOf(['collections', ref.id])
  }
  if (ref.collection === 'databases') return undefined
  return addressOf([sectionOf(ref.collection), ref.id])
}

function isNative(name: string): name is Native {
  return (natives as readonly string[]).includes(name)
}

/** Truncates to `chars` characters, without splitting a surrogate pair, and adds an ellipsis. */
export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Describes a value in at most `chars` characters and an ellipsis. A text has no quotes. */
export function previewOf(value: Json, chars = cellChars): string {
  if (typeof value === 'string') return cut(value, chars)
  return cut(lineOf(value, chars), chars)
}

function lineOf(value: Json, room: number): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, room))
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${someOf(value, room, item => item)}]`
  if (!isMap(value)) return ''
  const ref = refOf(value)
  if (ref) return `${ref.collection}/${ref.id}`
  const tag = tagOf(value)
  const inner = tag === undefined ? undefined : value.get(tag)
  if (tag !== undefined && typeof inner === 'string') return inner
  if (tag === '@query') return 'function'
  return `{${someOf(
    [...value],
    room,
    ([, item]) => item,
    ([name]) => `${cut(name, 30)}: `,
  )}}`
}

function someOf<T>(
  items: readonly T[],
  room: number,
  memberOf: (item: T) => Json,
  labelOf: (item: T) => string = () => '',
): string {
  let text = ''
  for (const item of items) {
    if (text.length > room) break
    text += `${text === '' ? '' : ', '}${labelOf(item)}${lineOf(memberOf(item), room)}`
  }
  return text
}

/** Suffix of the class that colours a value. */
function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint' || typeof value === 'number') return 'number'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'boolean'
  return tagOf(value) === undefined ? 'object' : 'tag'
}

/** References with a page are links. */
export function Cell({ value }: { value: Json | undefined }) {
  if (value === undefined) return <span class="absent">–</span>
  const ref = refOf(value)
  const address = ref && addressOfRef(ref)
  if (ref && address)
    return <NameLink href={address} name={ref.isNative ? ref.id : `${ref.collection}/${ref.id}`} />
  return <bdi class={`value-${kindOf(value)}`}>{previewOf(value)}</bdi>
}

/** Shows a value as a tree with collapsible branches. */
export function Tree({ value, name }: { value: Json; name?: string }) {
  return (
    <ul class="tree">
      <Branch value={value} name={name} depth={0} />
    </ul>
  )
}

interface BranchProps {
  readonly value: Json
  readonly name: string | undefined
  readonly depth: number
}

function Branch({ value, name, depth }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < 2)
  const label = name === undefined ? null : <bdi class="tree-name">{cut(name, 200)}: </bdi>
  const isBranch =
    (Array.isArray(value) && value.length > 0) ||
    (isMap(value) && value.size > 0 && tagOf(value) === undefined)
  if (!isBranch) {
    return (
      <li>
        {label}
        <Leaf value={value} />
      </li>
    )
  }
  const members = Array.isArray(value) ? value.map((item, at) => [String(at), item] as const) : [...value]
  return (
    <li>
      <Button class="tree-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label}
        <span class="tree-count">
          {Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`}
          {!isOpen && ` ${previewOf(value, 60)}`}
        </span>
      </Button>
      {isOpen && <Members members={members} depth={depth + 1} />}
    </li>
  )
}

function Members({ members, depth }: { members: readonly (readonly [string, Json])[]; depth: number }) {
  const [shown, setShown] = useState(treeItems)
  return (
    <ul>
      {members.slice(0, shown).map(([name, item]) => (
        <Branch key={name} name={name} value={item} depth={depth} />
      ))}
      {shown < members.length && (
        <li>
          <Button class="quiet" onClick={() => setShown(shown + treeItems * 5)}>
            Show {members.length - shown} more
          </Button>
        </li>
      )}
    </ul>
  )
}

function Leaf({ value }: { value: Json }) {
  const [showsAll, setShowsAll] = useState(false)
  const isLong = typeof value === 'string' && value.length > treeChars
  const ref = refOf(value)
  if (ref) return <Cell value={value} />
  const text = typeof value === 'string' && showsAll ? JSON.stringify(value) : quoted(value)
  return (
    <>
      <bdi class={`value-${kindOf(value)}`}>{text}</bdi>
      {isLong && !showsAll && (
        <Button class="quiet" onClick={() => setShowsAll(true)}>
          Show all {value.length} characters
        </Button>
      )}
    </>
  )
}

function quoted(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(cut(value, treeChars))
  const tag = tagOf(value)
  const inner = textAt(value, tag ?? '')
  return inner === undefined ? previewOf(value, treeChars) : `${tag?.slice(1)} ${inner}`
}
