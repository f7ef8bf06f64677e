// What may be told of an error to people who must not see data: the words of the service, and nothing that came from a query
// or a document. Texts of errors quote values, so a word stays only when it is one of the service's own; everything else,
// numbers too, becomes `?`.

/** Words in the texts of errors, in lower case. None of them says anything about anybody. */
const vocabulary = new Set(
  `a abandon abort aborted about accept accepts access accessible account action active add added after alias all
    allowed already also an ancestor and annotation annotations anonymous another any api are argument arguments
    arity around array as at attempted authenticate authentication authorization back backfill backfilled bad be
    because been before being between binding bindings bit block body boolean both bounds builtin but by bytes call
    called callee calling can cannot cast cause change changed character characters check checks class client
    closing code collection collections collides commit committed compatible compute computed concatenated
    concurrent conflicting conflicts constraint constraints constructor contain container contains contended
    contention context conversion convert could count covers create created credential credentials current cursor
    dangling data database date dates day days declare declared decrease default defined definition delete deleted
    denied depth descendant destructive did different digit digits dimension divide division do document documents
    does doesn don double doubles down drop dropped due duplicate duplicates during each effect either element
    elements empty end ends enough entity entry equal error errors escape eval evaluate evaluating evaluation event
    events exactly exceed exceeded exceeding exceeds except exist exists expected expecting expects expired
    expression extra failed failure failures field fields file filename files first fit float following for
    forbidden foreign form format found frames from full function functions future get given greater group has have
    having header headers here hex hint history id identifier identity if illegal in inactive inclusive incompatible
    incorrect index indexable indexes info inner input instance instead insufficient int integer internal
    interpolation into invalid is issuer it item its json key keys label lacks lambda lambdas large later least
    length less level limit list literal live long longer lookup lower make many map match matches max maximum may
    member membership met metadata method methods microseconds migration migrations milliseconds minimum missing mix
    mode modify module more most move moved multipart must mva name named names native negative nested nesting next
    no non none not nothing null nullable number numbers numeric object objects of once one only open operand
    operation operator or order originally other out outer output outside overflow page pair parameter parameters
    parent parenthesis parse parsed parsing partition past path pattern per perform performs permission persistable
    persisted place position positive post precision predicate present previous priority privileges problem
    protected provide provided provider providers providing pure queries query queryable radix range rate reach
    reached read readonly reason receive received reduce ref refer reference refers refs regex regular remove
    removed repetition replace represented request requests require required requires reserved resource result
    resulted retries return returned reversed role roles s same saw scalar schema scope scoped search secret see set
    sets short should signature simple single size small snapshot snippet so source specified specifiers stack
    staged stale start starts statement step steps still stop stored stream streamable streaming string strings
    struct submitted subtype such suffix support supported syntax system t tag tagged tags take target template
    temporal term terms text than that the their there this time timed times timestamp to token too top trailing
    transaction transform ttl tuple twice two type types unable unary unauthorized unbound unclosed undefined
    unexpected unicode union unique unit unknown unmatched unresolved unsupported up update updated upper uri url
    use used user uses uuid valid validation value values variable variadic version was were when where which while
    width wildcard wildcards with within without write writes written wrong yet zero`.split(/\s+/),
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
