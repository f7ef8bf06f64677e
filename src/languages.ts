// The table of languages that the service speaks: the only place where they meet.

import type { Languages } from './model/language.ts'
import { version4 } from './v4/language.ts'
import { version10 } from './v10/language.ts'

/** By name, as requests and stored code name their language. */
export const languages: Languages = { '4': version4, '10': version10 }
