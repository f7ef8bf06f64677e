// s3rver, a real S3 server from the npm registry, inside the process of a test, with one bucket.

import { readdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { temporaryFolder } from './program.ts'

interface S3Server {
  run(): Promise<{ readonly port: number }>
  close(): Promise<void>
  /** Exists while the server runs. */
  readonly httpServer: Server
}

/** Milliseconds that an idle connection stays open. A client may use a connection again after a pause of the test. */
const connectionIdleMs = 3_600_000

/** The package has no types. */
const S3rver: new (options: object) => S3Server = createRequire(import.meta.url)('s3rver')

const bucket = 'exports'
/** The key that s3rver accepts. */
const [accessKey, secretKey] = ['S3RVER', 'S3RVER']

export class S3Bucket {
  readonly endpoint: string
  readonly bucket = bucket
  readonly accessKey = accessKey
  readonly secretKey = secretKey
  readonly #server: S3Server
  readonly #folder: string

  private constructor(server: S3Server, folder: string, port: number) {
    this.#server = server
    this.#folder = folder
    this.endpoint = `http://127.0.0.1:${port}`
  }

  static async start(): Promise<S3Bucket> {
    const folder = await temporaryFolder()
    const server = new S3rver({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory: folder,
      configureBuckets: [{ name: bucket, configs: [] }],
    })
    const { port } = await server.run()
    server.httpServer.keepAliveTimeout = connectionIdleMs
    return new S3Bucket(server, folder, port)
  }

  /** Make a service use the bucket. */
  flags(name = bucket): string[] {
    return ['--query-log-s3-endpoint', this.endpoint, '--query-log-s3-bucket', name]
  }

  readonly env = {
    TERRARIUM_QUERY_LOG_S3_ACCESS_KEY: accessKey,
    TERRARIUM_QUERY_LOG_S3_SECRET_KEY: secretKey,
  }

  names(): string[] {
    const suffix = '._S3rver_object'
    return readdirSync(join(this.#folder, bucket), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith(suffix))
      .map(name => name.slice(0, -suffix.length))
  }

  async stop(): Promise<void> {
    await this.#server.close()
    rmSync(this.#folder, { recursive: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
