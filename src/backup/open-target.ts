// Opens the target of a continuous backup: a folder, or a bucket of an S3-compatible service.

import { createHash } from 'node:crypto'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ListObjectsV2CommandOutput, S3ServiceException } from '@aws-sdk/client-s3'
import { parseBackupAddress } from '../base/addresses.ts'
import { makeFolder } from '../base/folders.ts'
import { systemRandom } from '../base/random.ts'
import { openS3Client } from '../base/s3-client.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { systemTimers } from '../base/timers.ts'
import { flushFolder } from '../storage/log/segment-files.ts'
import { BackupError, type BackupTarget, objectBytesMax } from './target.ts'

/** Throws {@link BackupError} for an invalid address. */
export async function openTarget(text: string): Promise<BackupTarget> {
  const address = parseBackupAddress(text)
  if (address === undefined) throw new BackupError(`${text} is neither a folder nor s3://BUCKET/PREFIX`)
  return address.kind === 'folder'
    ? new FolderTarget(address.folder)
    : openS3Target(address.bucket, address.prefix)
}

const draftEnd = '.partial'

/**
 * A folder as a target. Each object is a file; the slashes of its name separate folders. A file is written under a
 * temporary name, flushed and renamed, so a crash leaves no incomplete object.
 */
export class FolderTarget implements BackupTarget {
  readonly name: string

  /** `folder`: an absolute path. */
  constructor(folder: string) {
    this.name = folder
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#placed(name, bytes, async (draft, path) => {
      await rename(draft, path)
      return true
    })
  }

  /** Writes a draft, then calls `place` to move it, and returns whether `place` did. */
  async #placed(
    name: string,
    bytes: Uint8Array,
    place: (draft: string, path: string) => Promise<boolean>,
  ): Promise<boolean> {
    const path = join(this.name, name)
    const draft = `${path}.${systemRandom.hex(4)}${draftEnd}`
    return this.#explained('written', async () => {
      makeFolder(dirname(path), 0o700)
      try {
        const file = await open(draft, 'w', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        const isPlaced = await place(draft, path)
        if (isPlaced) await flushFolder(dirname(path))
        return isPlaced
      } finally {
        await rm(draft, { force: true }).catch(() => undefined)
      }
    })
  }

  async getTagged(name: string): Promise<{ readonly bytes: Buffer; readonly tag: string } | undefined> {
    const bytes = await this.get(name)
    return bytes && { bytes, tag: tagOf(bytes) }
  }

  /**
   * Linking to an existing name fails, so only one of several processes creates an object. To replace an object, a
   * process first creates the only file that may follow the object's present content. Folders without links have no
   * conditional writes.
   */
  async putTagged(name: string, bytes: Uint8Array, tag: string | undefined): Promise<boolean> {
    return this.#placed(name, bytes, async (draft, path) => {
      try {
        if (tag === undefined) return await linkNew(draft, path)
        const successor = `${path}.after-${tag}${draftEnd}`
        if (!(await linkNew(draft, successor))) {
          await removeAbandoned(successor, draft)
          return false
        }
        // Another process may have replaced the object, and its own file that followed `tag`, before the link.
        const isCurrent = (await this.getTagged(name))?.tag === tag
        if (isCurrent) return await moveExisting(successor, path)
        await rm(successor, { force: true })
        return false
      } catch (cause) {
        if (!linkErrors.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
        await rename(draft, path)
        return true
      }
    })
  }

  async get(name: string, bytesMax: number = objectBytesMax): Promise<Buffer | undefined> {
    return this.#explained('read', async () => {
      const file = await open(join(this.name, name)).catch(absent)
      if (file === undefined) return undefined
      try {
        checkSize(name, (await file.stat()).size, bytesMax)
        return await file.readFile()
      } finally {
        await file.close()
      }
    })
  }

  async *list(prefix: string, after = ''): AsyncIterable<string> {
    // A prefix may end within a file name, so only the part up to the last slash is a folder.
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    const names = await this.#explained('read', () => this.#namesBelow(folder))
    for (const name of names.sort()) if (name.startsWith(prefix) && name > after) yield name
  }

  async remove(name: string): Promise<void> {
    await this.#explained('written', () => rm(join(this.name, name), { force: true }))
  }

  async #namesBelow(folder: string): Promise<string[]> {
    const entries = await readdir(join(this.name, folder), { withFileTypes: true }).catch(absent)
    const names: string[] = []
    for (const entry of entries ?? []) {
      const name = folder + entry.name
      if (entry.isDirectory()) names.push(...(await this.#namesBelow(`${name}/`)))
      else if (!name.endsWith(draftEnd)) names.push(name)
    }
    return names
  }

  async #explained<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof BackupError) throw cause
      throw new BackupError(`the backup folder ${this.name} cannot be ${what}: ${reasonOf(cause)}`, { cause })
    }
  }
}

/** File systems without links. */
const linkErrors: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
/** Milliseconds after which a file of a conditional write is removed: its process was killed. */
const abandonedMs = 25_000

function tagOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

/** Returns false if `path` exists. */
async function linkNew(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
}

/** Returns false if another process has removed the file as abandoned. */
async function moveExisting(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (cause) {
    absent(cause as NodeJS.ErrnoException)
    return false
  }
}

async function removeAbandoned(file: string, newer: string): Promise<void> {
  const [old, present] = await Promise.all([stat(file).catch(absent), stat(newer)])
  if (old !== undefined && present.mtimeMs - old.mtimeMs > abandonedMs) await rm(file, { force: true })
}

function checkSize(name: string, bytes: number, bytesMax: number): void {
  if (bytes > bytesMax)
    throw new BackupError(`the object ${name} has ${bytes} bytes, allowed are ${bytesMax}`)
}

function absent(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause
}

// The AWS SDK reads credentials, region and endpoint from its usual sources: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_REGION, AWS_ENDPOINT_URL_S3, profiles and instance roles.

/** Milliseconds; a write has additional time for its bytes. */
const requestMs = 60_000
/** Bytes for each millisecond of additional time. */
const slowestWrite = 32

/** Reasons that an operator can fix, by the code or the name of the error. */
const reasons: Readonly<Record<string, string>> = {
  AccessDenied: 'the credentials do not have the permission',
  AuthorizationHeaderMalformed: 'the region is wrong; set AWS_REGION',
  CredentialsProviderError: 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ExpiredToken: 'the credentials have expired',
  InvalidAccessKeyId: 'the access key is unknown',
  NoSuchBucket: 'the bucket does not exist',
  PermanentRedirect: 'the bucket is in another region; set AWS_REGION',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
  SignatureDoesNotMatch: 'the secret key is wrong',
  AbortError: 'it does not respond',
  TimeoutError: 'it does not respond',
  ECONNRESET: 'the connection was interrupted',
  EPIPE: 'the connection was interrupted',
  ECONNREFUSED: 'no service listens at its address',
  ENOTFOUND: 'the name of the service cannot be resolved',
}

/** Opens a bucket; object names begin with `prefix`. Configuration errors appear at the first request. */
async function openS3Target(bucket: string, prefix: string): Promise<BackupTarget> {
  const { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } = await import(
    '@aws-sdk/client-s3'
  )
  const client = await openS3Client({ region: process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION })
  const name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const before = prefix === '' ? '' : `${prefix}/`
  const place = (object: string) => ({ Bucket: bucket, Key: before + object })
  type Limit = { readonly abortSignal: AbortSignal }
  const explained = async <T>(what: 'read' | 'written', work: (limit: Limit) => Promise<T>, bytes = 0) => {
    const controller = new AbortController()
    const cancel = systemTimers.after(requestMs + bytes / slowestWrite, () => controller.abort())
    try {
      return await work({ abortSignal: controller.signal })
    } catch (cause) {
      if (cause instanceof BackupError) throw cause
      throw new BackupError(`the backup bucket ${name} cannot be ${what}: ${reasonOfS3(cause)}`, { cause })
    } finally {
      cancel()
    }
  }
  const read = (object: string, bytesMax = objectBytesMax) =>
    explained('read', async limit => {
      try {
        const { Body, ETag: tag } = await client.send(new GetObjectCommand(place(object)), limit)
        return Body && { bytes: await bytesOf(object, Body as AsyncIterable<Uint8Array>, bytesMax), tag }
      } catch (cause) {
        if ((cause as Error).name === 'NoSuchKey') return undefined
        throw cause
      }
    })
  /** False: the service rejects conditional writes. */
  let hasConditions = true
  return {
    name,
    put: async (object, bytes) => {
      const request = new PutObjectCommand({ ...place(object), Body: bytes })
      await explained('written', limit => client.send(request, limit), bytes.length)
    },
    get: async (object, bytesMax) => (await read(object, bytesMax))?.bytes,
    getTagged: async object => {
      const found = await read(object)
      return found && { bytes: found.bytes, tag: found.tag ?? '' }
    },
    putTagged: async (object, bytes, tag) => {
      const request = { ...place(object), Body: bytes }
      const condition = tag === undefined ? { IfNoneMatch: '*' } : tag === '' ? {} : { IfMatch: tag }
      return explained('written', async limit => {
        try {
          await client.send(new PutObjectCommand({ ...request, ...(hasConditions && condition) }), limit)
          return true
        } catch (cause) {
          const status = (cause as S3ServiceException).$metadata?.httpStatusCode
          if (status === 409 || status === 412 || (status === 404 && (cause as Error).name === 'NoSuchKey'))
            return false
          if (!hasConditions || (status !== 400 && status !== 501)) throw cause
          await client.send(new PutObjectCommand(request), limit)
          hasConditions = false
          return true
        }
      })
    },
    async *list(objects, after) {
      const checked = listingCheck(name, before + objects)
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const request = {
          Bucket: bucket,
          Prefix: before + objects,
          ...(token === undefined
            ? after !== undefined && { StartAfter: before + after }
            : { ContinuationToken: token }),
        }
        const page: ListObjectsV2CommandOutput = await explained('read', limit =>
          client.send(new ListObjectsV2Command(request), limit),
        )
        const keys = (page.Contents ?? []).flatMap(({ Key }) => Key ?? [])
        checked(keys)
        for (const key of keys) yield key.slice(before.length)
        token = page.NextContinuationToken
      }
    },
    remove: async object => {
      await explained('written', limit => client.send(new DeleteObjectCommand(place(object)), limit))
    },
  }
}

/** A backup has far fewer objects. */
const listedMax = 10_000_000
/** Consecutive pages of a listing without objects. */
const emptyPagesMax = 100

/**
 * Throws {@link BackupError} for a listing that does not advance or has no end, so that a faulty service cannot keep a
 * command busy forever.
 */
function listingCheck(target: string, prefix: string): (keys: readonly string[]) => void {
  const rejected = (reason: string) =>
    new BackupError(`the list of objects in the backup bucket ${target} ${reason}`)
  let [last, listed, emptyPages] = ['', 0, 0]
  return keys => {
    emptyPages = keys.length === 0 ? emptyPages + 1 : 0
    if (emptyPages > emptyPagesMax) throw rejected('has no end')
    for (const key of keys) {
      if (!key.startsWith(prefix)) throw rejected('contains an object that does not belong to the backup')
      if (key <= last) throw rejected('is not in order')
      last = key
    }
    listed += keys.length
    if (listed > listedMax) throw rejected(`has more than ${listedMax} objects`)
  }
}

async function bytesOf(name: string, body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    checkSize(name, bytes, bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function reasonOfS3(cause: unknown): string {
  // When a host name has several addresses, the error contains an error for each address.
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code, message, name } = inner as NodeJS.ErrnoException
  // The code is more precise than the name: the SDK also gives interrupted connections the name `TimeoutError`.
  return reasons[code ?? ''] ?? reasons[name] ?? `${name}: ${message}`
}
