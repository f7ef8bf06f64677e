// Opens a client for a bucket. The S3 client is by far the largest dependency, so it is loaded only when a bucket is
// configured.

import type { S3Client } from '@aws-sdk/client-s3'

interface S3ClientOptions {
  /**
   * Without this option, the SDK reads the endpoint from the environment (AWS_ENDPOINT_URL_S3), or uses the address of
   * AWS.
   */
  readonly endpoint?: string
  /** The default is `us-east-1`. */
  readonly region?: string | undefined
  /**
   * Without this option, the SDK looks for credentials in the environment, in profiles, and in the cloud's instance
   * metadata service.
   */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** Configuration errors are thrown at the first use of the client. */
export async function openS3Client({
  credentials,
  endpoint,
  region = 'us-east-1',
}: S3ClientOptions): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3')
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
    // A bucket name in the path works with every S3-compatible service, even if the endpoint is an IP address.
    forcePathStyle: true,
    // Some services reject checksums that the protocol does not require.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
