// The version of this program, from the package it is shipped in.

import { readFileSync } from 'node:fs'
import { home } from './program-files.ts'

const packageFile = new URL('package.json', home)

/** The version in package.json, such as `0.1.0`. */
export const version: string = JSON.parse(readFileSync(packageFile, 'utf8')).version
