// `terrarium profile add|list|delete`.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'

const { database, secret, url } = clientOptions

/** Adds a profile. */
export const addProfileCommand = command({
  name: 'profile add',
  summary: 'Stores the address and the secret of a service under a name, for --profile.',
  description: [
    'Profiles are stored in $XDG_CONFIG_HOME/terrarium/profiles.json (by default below ~/.config), which only its owner can read; ' +
      'TERRARIUM_PROFILES names another file. Flags override a profile, and a profile overrides the environment.',
  ],
  operands: [{ name: 'NAME', doc: 'The name of the profile; an existing one is replaced.' }],
  options: { url, secret, database },
  examples: [
    ['profile add production --url https://db.example.org', 'With the secret in TERRARIUM_SECRET:'],
    [`eval --profile production 'Now()'`, 'On that service:'],
  ],
  run: async ({ operands: [name = ''], options }) =>
    (await import('../actions/profile.ts')).addProfile(name, options),
})

/** Lists profiles. */
export const listProfilesCommand = command({
  name: 'profile list',
  summary: 'Lists the profiles, without their secrets.',
  options: jsonOption,
  run: async ({ options }) => (await import('../actions/profile.ts')).listProfiles(options),
})

/** Deletes a profile. */
export const deleteProfileCommand = command({
  name: 'profile delete',
  summary: 'Deletes a profile.',
  operands: [{ name: 'NAME', doc: 'The name of the profile.' }],
  run: async ({ operands: [name = ''] }) => (await import('../actions/profile.ts')).deleteProfile(name),
})
