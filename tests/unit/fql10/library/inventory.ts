// All names in the standard library of version 10: the names that the hosted service had when it was switched off, and
// the names that Terrarium adds. The groups are the tables of the library; several groups may contain the same name.

/** Names by owner. `module X` contains the names of `X.name`, and `()` for a call of the module itself. */
export const inventory: Readonly<Record<string, string>> = {
  globals: `Array Boolean Bytes Date Doc Double EventSource Float ID Int Long Null Number Object Set SetCursor String Struct
    Time TransactionTime UUID Math Query FQL AccessProvider Collection Credential Credentials Database Function Key Role
    Token abort asc dbg desc log newId`,
  'module AccessProvider': 'all byName create firstWhere toString where',
  'module Array': 'sequence',
  'module Bytes': '() fromBase64',
  'module Collection': '() Deleted all byName create firstWhere toString where',
  'module Credential': '() all byDocument byId create firstWhere toString where',
  'module Database': 'all byName create firstWhere toString where',
  'module Date': '() fromString today',
  'module Function': '() all byName create firstWhere toString where',
  'module ID': '()',
  'module Key': '() all byId create firstWhere toString where',
  'module Math': `PI E Infinity NaN abs sign ceil floor round trunc max min sum mean sqrt log log10 acos asin sin cos tan atan
    sinh cosh tanh exp degrees radians hypot pow`,
  'module Object': 'keys values entries select hasPath assign fromEntries toString',
  'module Query': 'identity token isEnvTypechecked isEnvProtected',
  'module Role': 'all byName create firstWhere toString where',
  'module Set': 'single sequence paginate',
  'module Time': '() fromString now epoch',
  'module Token': '() all byDocument byId create firstWhere toString where',
  'module TransactionTime': '()',
  'module FQL': `Array Boolean Bytes Date Doc Double EventSource Float ID Int Long Null Number Object Set SetCursor String Struct
    Time TransactionTime UUID Math Query AccessProvider Collection Credential Credentials Database Function Key Role
    Token abort asc dbg desc log newId Schema`,
  'module FQL.Schema': 'defForIdentifier',
  '<collection>': '() all byId create createData definition firstWhere toString where',
  Array: `length aggregate any append at concat distinct drop entries every filter first firstWhere flatMap flatten fold
    foldRight forEach includes indexOf indexWhere isEmpty last lastIndexOf lastIndexWhere lastWhere map nonEmpty order
    prepend reduce reduceRight reverse slice take toSet toString where`,
  Boolean: 'toString',
  Bytes: 'toBase64 toString',
  Date: 'year month dayOfMonth dayOfYear dayOfWeek add subtract difference toString',
  Document: 'id coll exists update replace delete updateData replaceData',
  NamedDocument: 'name coll exists update replace delete',
  EventSource: 'where map toString',
  KeyDocument: 'id coll exists update replace delete',
  TokenDocument: 'id coll exists update replace delete',
  CredentialDocument: 'id coll exists update replace delete verify login',
  Function: 'toString',
  UserFunction: 'definition toString',
  ID: 'toString',
  Null: 'toString',
  Number: 'toString',
  Set: `aggregate any changesOn concat count distinct drop eventSource eventsOn every first firstWhere flatMap fold foldRight
    forEach includes isEmpty last lastWhere map nonEmpty order pageSize paginate reduce reduceRight reverse take toArray
    toSet toStream toString where`,
  SetCursor: 'toString',
  String: `length at casefold concat endsWith includes includesRegex indexOf indexOfRegex insert lastIndexOf matchIndexes matches
    parseDouble parseInt parseLong parseNumber replace replaceAll replaceAllRegex replaceRegex slice split splitAt splitRegex
    startsWith toLowerCase toString toUpperCase`,
  Time: `year month dayOfMonth dayOfYear dayOfWeek hour minute second toSeconds toMillis toMicros add subtract difference
    toString`,
  TransactionTime: 'toString',
  UUID: 'toString',
}
