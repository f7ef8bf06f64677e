// A bucket of an S3-compatible service as the target of a continuous backup. The AWS SDK reads credentials, region and
// endpoint from its usual sources: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL_S3, profiles
// and instance roles.

import type { ListObjectsV2CommandOutput, S3ServiceException } from '@aws-sdk/client-s3'
import { openS3Client } from '../base/s3-client.ts'
import { systemTimers } from '../base/timers.ts'
import { BackupError, type BackupTarget, checkSize, objectBytesMax } from './target.ts'

/** The time limit of a request in milliseconds. A write has additional time for its bytes. */
const requestMs = 60_000
/** Bytes for each millisecond of additional time. */
const writeBytesPerMs = 32

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
export async function openBucketTarget(bucket: string, prefix: string): Promise<BackupTarget> {
  const { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } = await import(
    '@aws-sdk/client-s3'
  )
  const client = await openS3Client({ region: process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION })
  const name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const keyPrefix = prefix === '' ? '' : `${prefix}/`
  const locationOf = (object: string) => ({ Bucket: bucket, Key: keyPrefix + object })
  type Limit = { readonly abortSignal: AbortSignal }
  const withReason = async <T>(what: 'read' | 'written', work: (limit: Limit) => Promise<T>, bytes = 0) => {
    const controller = new AbortController()
    const cancel = systemTimers.after(requestMs + bytes / writeBytesPerMs, () => controller.abort())
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
    withReason('read', async limit => {
      try {
        const { Body, ETag: tag = '' } = await client.send(new GetObjectCommand(locationOf(object)), limit)
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
      const request = new PutObjectCommand({ ...locationOf(object), Body: bytes })
      await withReason('written', limit => client.send(request, limit), bytes.length)
    },
    get: async (object, bytesMax) => (await read(object, bytesMax))?.bytes,
    getTagged: object => read(object),
    putTagged: async (object, bytes, tag) => {
      const request = { ...locationOf(object), Body: bytes }
      // The tag of an existing object is empty if the service returns no entity tags.
      const condition = tag === undefined ? { IfNoneMatch: '*' } : tag === '' ? {} : { IfMatch: tag }
      return withReason('written', async limit => {
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
      const checkKeys = listingCheck(name, keyPrefix + objects)
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const request = {
          Bucket: bucket,
          Prefix: keyPrefix + objects,
          ...(token === undefined
            ? after !== undefined && { StartAfter: keyPrefix + after }
            : { ContinuationToken: token }),
        }
        const page: ListObjectsV2CommandOutput = await withReason('read', limit =>
          client.send(new ListObjectsV2Command(request), limit),
        )
        const keys = (page.Contents ?? []).flatMap(({ Key }) => Key ?? [])
        checkKeys(keys)
        for (const key of keys) yield key.slice(keyPrefix.length)
        token = page.NextContinuationToken
      }
    },
    remove: async object => {
      await withReason('written', limit => client.send(new DeleteObjectCommand(locationOf(object)), limit))
    },
  }
}

/** As many pieces as a service writes in about 115 days, at one piece per second. */
const listedMax = 10_000_000
/** Maximum number of consecutive pages of a listing without objects. */
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
