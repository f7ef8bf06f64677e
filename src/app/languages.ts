// The table of languages that the service speaks: the only place where they meet.

import { version4 } from '../fql4/language.ts'
import { version10 } from '../fql10/language.ts'
import type { Languages } from '../model/language.ts'

/** By name, as requests and stored code name their language. */
export const languages: Languages = { '4': version4, '10': version10 }
