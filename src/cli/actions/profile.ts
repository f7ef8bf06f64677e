// Manages named services: `terrarium profile add|list|delete`. Each action resolves with the exit status.

import { UsageError } from '../../app/config/read-config.ts'
import type { ClientChoice } from '../client/options.ts'
import { CommandError } from '../command.ts'
import { changeProfiles, profileFile, readProfiles } from '../profiles.ts'
import { escapeHidden, listText, printLine } from '../terminal.ts'

export async function addProfile(
  name: string,
  { database, secret, url }: Pick<ClientChoice, 'url' | 'secret' | 'database'>,
): Promise<number> {
  if (url === undefined || secret === undefined)
    throw new UsageError('profile add needs --url and --secret (or TERRARIUM_URL and TERRARIUM_SECRET)')
  changeProfiles(profiles => profiles.set(name, { url, secret, ...(database !== undefined && { database }) }))
  process.stdout.write(`added ${escapeHidden(name)} to ${profileFile()}\n`)
  return 0
}

/** Prints the profiles without their secrets. */
export async function listProfiles({ json }: { readonly json: boolean }): Promise<number> {
  const rows = [...readProfiles()].map(([name, { database = '', url }]) => ({ name, url, database }))
  process.stdout.write(listText(['name', 'url', 'database'], rows, json))
  return 0
}

export async function deleteProfile(name: string): Promise<number> {
  changeProfiles(profiles => {
    if (!profiles.delete(name)) throw new CommandError(`there is no profile ${escapeHidden(name)}`)
  })
  printLine(`deleted ${name}`)
  return 0
}
