// A bucket of an S3-compatible service as the target of a continuous backup. The AWS SDK reads credentials, region and
// endpoint from its usual sources: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL_S3, profiles and
// instance roles.

import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { openS3Client } from '../base/s3-client.ts'
import { systemTimers } from '../base/timers.ts'
import { BackupError } from './errors.ts'
import type { BackupTarget } from './target.ts'

/** Time limit of a request in milliseconds. A write has additional time for its bytes. */
const requestMs = 60_000
/** The speed in bytes per millisecond from which the additional time is computed. */
const slowestWrite = 32

/** Reasons of errors that an operator can fix, by the code or the name of the error. */
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
export async function openS3Target(bucket: string, prefix: string): Promise<BackupTarget> {
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
      throw new BackupError(`the backup bucket ${name} cannot be ${what}: ${reasonOf(cause)}`, { cause })
    } finally {
      cancel()
    }
  }
  return {
    name,
    put: async (object, bytes) => {
      const request = new PutObjectCommand({ ...place(object), Body: bytes })
      await explained('written', limit => client.send(request, limit), bytes.length)
    },
    get: object =>
      explained('read', async limit => {
        try {
          const { Body } = await client.send(new GetObjectCommand(place(object)), limit)
          return Body && Buffer.from(await Body.transformToByteArray())
        } catch (cause) {
          if ((cause as Error).name === 'NoSuchKey') return undefined
          throw cause
        }
      }),
    async *list(objects, after) {
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
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key.slice(before.length)
        token = page.NextContinuationToken
      }
    },
    remove: async object => {
      await explained('written', limit => client.send(new DeleteObjectCommand(place(object)), limit))
    },
  }
}

function reasonOf(cause: unknown): string {
  // When a host name has several addresses, the error contains an error for each address.
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const { code, message, name } = inner as NodeJS.ErrnoException
  // The SDK also names interrupted connections TimeoutError.
  return reasons[code ?? ''] ?? reasons[name] ?? `${name}: ${message}`
}
