// What may be told of an error to people who must not see data: the words of the service, and nothing that came from a query
// or a document. Texts of errors quote values, so a word stays only when it is one of the service's own; everything else,
// numbers too, becomes `?`.

/** Words in the texts of errors, in lower case. None of them says anything about anybody. */
const vocabulary = new Set(
  `a about abort access account action active after all allowed already also an and annotation any are argument arguments
  array as at attempted authenticate authentication authorization back bad be because been before binding body boolean both
  bounds builtin but by bytes call called callee can cannot cast change changed character characters check class client
  collection collections collides committed computed concurrent constraint constraints contain container contains
  contended contention conversion convert could count create created credential credentials current cursor data database
  date day days declared default defined definition delete deleted denied depth destructive did different dimension divide
  division do document documents does double doubles down due duplicate during each effect element elements empty end
  entry equal error errors eval evaluate evaluating evaluation event events exactly exceed exceeded exceeding exceeds
  except exist exists expected expects expired expression failed failure field fields file files first fit float following
  for forbidden foreign form format found frames from function functions greater has have header headers history id
  identifier identity if in inactive index indexes info inner instance insufficient int integer internal into invalid is
  it item its key keys lambda large least length less level limit list long lookup many map match matches max maximum
  maximum may member membership met metadata method minimum missing mode module more most move must mva name named names
  native negative nested nesting nested next no non none not null number numbers numeric object objects of one only open
  operand operation operator or order other out outside overflow page pair parameter parameters parent parse parsed
  partition path pattern perform performs permission persisted place position positive precision predicate present
  privileges problem protected provide provided query queryable radix range rate reach reached read receive received
  reduce ref refer reference refers regex regular replace request requests require required requires reserved resource
  result retries return returned role roles same schema scope scoped search secret see set sets should signature single
  size small snapshot so source stack start statement step steps stored stream string strings supported syntax system
  take term terms text than that the their there this time timed timestamp to token too transaction transform tuple two type
  types unable unary unauthorized unbound undefined unexpected union unique unit unknown unsupported up update updated uri
  url used user uses uuid valid validation value values variable version was were when where which while width wildcard
  with within write writes written wrong zero`.split(/\s+/),
)

/** Whether a word is one of those in texts of errors, or a usual name of a field: it says nothing about anybody. */
export function isServiceWord(word: string): boolean {
  return vocabulary.has(word.toLowerCase())
}

/** Characters of a text that are looked at, and of what is told of it. */
const textCharsMax = 1000
const toldCharsMax = 300

/** What a pair of quotes holds, and a word or number. */
const pieces = /(['`"])([^'`"]*)\1|[\p{L}\p{N}_]+/gu

/**
 * What a text of the service tells without any value: its first line, with `?` for whatever is neither a word of such texts
 * nor one that `isKnown` names, such as a word of the language.
 */
export function toldText(text: string, isKnown: (word: string) => boolean): string {
  const [line = ''] = text.slice(0, textCharsMax).split('\n', 1)
  const told = line.replace(pieces, (piece, quote: string | undefined, quoted: string | undefined) => {
    if (quote !== undefined) return isKnown(quoted ?? '') ? piece : `${quote}?${quote}`
    return isServiceWord(piece) || isKnown(piece) ? piece : '?'
  })
  return told
    .replace(/[^\x20-\x7e]/g, '?')
    .replace(/\?(?:[^\s'`"A-Za-z]*\?| \?)+/g, '?')
    .slice(0, toldCharsMax)
}
