// The query language as text: `Get(Ref(Collection("users"), "1"))`. The rest of the program and the dashboard import
// only this file of the folder. The code runs in browsers, evaluates nothing, and is independent of any service:
//
//     const { json, source } = parseExpression('Get(Ref(Collection("users"), "1"))')
//     const body = writeJson(json)                     // the body of POST /
//     const place = source.at(error.position)          // the position of a response's error in the text
//     printValue(parseJson(response).get('resource'))  // a response as text
//
// In all JSON here, integers are bigint, doubles are number and objects are Maps: see `Json`.

export {
  isVersion4,
  looksLikeVersion10,
  type ParsedExpression,
  parseExpression,
  parseExpressions,
  parseModule,
  readExpressions,
} from './parse-text.ts'
export { printQuery, printValue } from './print.ts'
export {
  excerpt,
  FqlSyntaxError,
  lineAndColumn,
  type SourceNode,
  type TextRange,
} from './source.ts'
export { fqlFunctions } from './text-functions.ts'
export { NoValueError, valueOfQuery } from './value.ts'
