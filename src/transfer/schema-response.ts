// Reads responses of the endpoints for schema files. The service at an address can be any program, so the type of each
// member is checked.

import { TransferError } from './record.ts'

/** All methods throw {@link TransferError} for a member of another type. */
export class SchemaResponse {
  /** Address for errors. */
  readonly #service: string
  readonly #json: unknown

  /** `service`: its address. `json`: the response as `JSON.parse` returns it. */
  constructor(service: string, json: unknown) {
    this.#service = service
    this.#json = json
  }

  /** A body that is not JSON has no members. */
  static of(service: string, body: string): SchemaResponse {
    try {
      return new SchemaResponse(service, JSON.parse(body))
    } catch {
      return new SchemaResponse(service, undefined)
    }
  }

  text(name: string): string {
    const value = this.#member(name)
    return typeof value === 'string' ? value : this.#fail(name)
  }

  integer(name: string): number {
    const value = this.#member(name)
    return Number.isSafeInteger(value) ? (value as number) : this.#fail(name)
  }

  objects(name: string): readonly SchemaResponse[] {
    const value = this.#member(name)
    if (!Array.isArray(value)) return this.#fail(name)
    return value.map(each => new SchemaResponse(this.#service, each))
  }

  #member(name: string): unknown {
    const json = this.#json
    if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined
    return (json as Readonly<Record<string, unknown>>)[name]
  }

  #fail(name: string): never {
    throw new TransferError(
      `${this.#service} is not a Terrarium service: its response has no valid \`${name}\``,
    )
  }
}
