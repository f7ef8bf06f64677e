// Packs folders into one compressed file, for data that an earlier version of the program has written.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'

/** The files of an earlier version, and what the version has answered to the reads of `content.ts`. */
export interface Stored {
  /** Contents by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Answers by the name of the read. */
  readonly answers: Readonly<Record<string, unknown>>
}

/** Writes the files below `folder`, and the answers, into one file. */
export function pack(folder: string, answers: Stored['answers'], file: string): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  )
  const files = new Map(
    entries.map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length + 1), readFileSync(path)] as const
    }),
  )
  writeFileSync(file, brotliCompressSync(serialize({ files, answers: JSON.stringify(answers) })))
}

/** Writes the packed files into `folder`; returns the answers. */
export function unpack(file: string, folder: string): Stored['answers'] {
  const { files, answers } = deserialize(brotliDecompressSync(readFileSync(file))) as {
    readonly files: Stored['files']
    readonly answers: string
  }
  for (const [path, content] of files) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }
  return JSON.parse(answers)
}
