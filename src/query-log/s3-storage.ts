// Stores exported files in a bucket of an S3-compatible service; clients download them through presigned URLs. Files
// are uploaded in parts, so memory is bounded for any size.

import type { Readable } from 'node:stream'
import type { GetObjectCommand } from '@aws-sdk/client-s3'
import { openS3Client } from '../base/s3-client.ts'
import type { ExportStorage } from './export-storage.ts'
import type { ChunkStorage } from './shared-log.ts'

interface S3Options {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly now: () => number
}

export interface ChunkBucket {
  readonly chunks: ChunkStorage
}

const partBytes = 8_388_608
const partsAtOnce = 2

/** Opens a bucket. Configuration errors appear only at the first use of the bucket. */
export async function openS3Storage(options: S3Options): Promise<ExportStorage & ChunkBucket> {
  const { endpoint, region, accessKey, secretKey, bucket, now } = options
  const { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand } = await import(
    '@aws-sdk/client-s3'
  )
  const { Upload } = await import('@aws-sdk/lib-storage')
  const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey }
  const client = await openS3Client({ endpoint, region, credentials })
  const remove = async (name: string) => {
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }))
  }
  return {
    async store(name: string, content: Readable, signal: AbortSignal): Promise<void> {
      const upload = new Upload({
        client,
        params: { Bucket: bucket, Key: name, Body: content, ContentType: 'application/gzip' },
        partSize: partBytes,
        queueSize: partsAtOnce,
      })
      const abort = () => upload.abort()
      signal.addEventListener('abort', abort, { once: true })
      try {
        signal.throwIfAborted()
        await upload.done()
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
    async exists(name) {
      try {
        await client.send(new HeadObjectCommand({ Bucket: bucket, Key: name }))
        return true
      } catch (error) {
        if ((error as { name?: string }).name === 'NotFound') return false
        throw error
      }
    },
    address(name, expires) {
      const command: GetObjectCommand = new GetObjectCommand({ Bucket: bucket, Key: name })
      const seconds = Math.max(1, expires - Math.floor(now() / 1e6))
      return getSignedUrl(client, command, { expiresIn: seconds })
    },
    remove,
    chunks: {
      async store(name, body) {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key: name, Body: body }))
      },
      async fetch(name) {
        try {
          const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: name }))
          return await Body?.transformToByteArray()
        } catch (error) {
          if ((error as { name?: string }).name === 'NoSuchKey') return undefined
          throw error
        }
      },
      remove,
    },
  }
}
