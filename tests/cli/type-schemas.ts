// Schemas like those of real applications, each with a program that uses its declarations. The program must compile,
// except where a comment expects an error.

import { authenticationSchema, shop } from '../driver10/app-schemas.ts'

/** A schema, with programs for the client of this repository and for `fauna`. */
export interface TypedSchema {
  readonly files: Readonly<Record<string, string>>
  readonly program: string
  readonly programForFauna: string
}

const blog = `// Articles of several authors.
collection Author {
  name: String
  handle: String
  bio: String?
  joined: Date = Date.today()
  links: Array<{ label: String, url: String }>
  unique [.handle]
  index byHandle { terms [.handle] }
}

@alias(Post)
collection Article {
  title: String
  body: String
  author: Ref<Author>
  tags: Array<String>
  state: "draft" | "published" = "draft"
  publishedAt: Time?
  rating: Double?
  views: Long = 0
  cover: Bytes?
  meta: { seo: { title: String?, keywords: Array<String> }, *: Any }
  compute slug: String = (article => article.title.toLowerCase())
  compute writer: Author? = (article => Author.byId(article.author!.id))
  compute guess = (article => article.views + 1)
  index byTag { terms [mva(.tags)]; values [desc(.publishedAt)] }
  index bySeo { terms [.meta.seo.title, .state] }
}

function publish(id: ID, time: Time): Article {
  Article.byId(id)!.update({ state: "published", publishedAt: time })
}
function latest(count: Int, ...tags: String): Array<Article> { Article.all().take(count).toArray() }

function find(handle: String): Ref<Author> { Author.byHandle(handle).first() }
function anything(default, x) { [default, x] }
function titles(state) { Article.all().where(a => a.state == state).map(.title) }
function newest() { Article.all().order(desc(.ts)).first() }
function writerOf(id) { { article: Article.byId(id)!, name: Article.byId(id)!.author!.name, count: 1 + 1 } }
function plus(a, b) { a + b }
function misspelt() { Article.all().first()!.titel }
function logIn(handle: String, password: String): Token {
  Credential.byDocument(Author.byHandle(handle).first()!)!.login(password)
}
`

const tracker = `collection Team { name: String; plan: "free" | "paid" = "free"; seats: Int? }
collection Member {
  team: Ref<Team>
  email: String
  role: "owner" | "editor" | "viewer" = "viewer"
  settings: { theme: "dark" | "light", digest: Boolean?, *: String }?
  unique [.team, .email]
  index byTeamAndEmail { terms [.team, .email] }
}
collection Issue {
  team: Ref<Team>
  number: Int
  title: String
  assignee: Ref<Member> | Null
  due: Date?
  estimate: Number | "unknown"
  position: [Int, Int]
  history: Array<{ at: Time, by: Ref<Member>, change: { field: String, to: Any } }>
  compute isLate: Boolean = (issue => issue.due != null)
  index open { terms [.team]; values [desc(.number), .title] }
}
function assign(issue: Ref<Issue>, member: Ref<Member>?): Issue { issue!.update({ assignee: member }) }
function stats(team: Ref<Team>): { open: Int, late: Int, next: Issue? } { { open: 0, late: 0, next: null } }
`

/** Collections of version 4: names that are not valid type names, and open collections. */
const legacy = `collection "my-things" { history_days 30 }
collection users {}
collection Open { known: Int; *: Any }
collection Locked { secret: String; ttl_days 3 }
collection class { a: String }
`

const client = "import { DocumentRef, Double, fql, LocalDate, Page, Time } from 'terrarium-client'"
const fauna =
  "import { type Client, type DateStub, type DocumentReference, fql, type Page, type TimeStub } from 'fauna'"

export const typedSchemas: Readonly<Record<string, TypedSchema>> = {
  shop: {
    files: shop,
    program: `${client}
import type { Collections, Customer, NewOrder, Order, ProductChanges } from './schema.ts'
declare const order: Order
declare const customer: Customer
const total: number | bigint = order.total
const when: Time = order.createdAt
const status: 'cart' | 'processing' | 'shipped' | 'delivered' = order.status
const orders: Page<Order> = customer.orders
const made: NewOrder = { customer, status: 'cart', createdAt: new Date(), payment: { any: ['thing'] } }
const byId: NewOrder = { ...made, id: '7', customer: new DocumentRef('Customer', '1'), createdAt: Time.now() }
const change: ProductChanges = { stock: 3 }
const terms: Collections['Order']['indexes']['byCustomerAndStatus']['terms'] = [customer, 'cart']
const query = fql\`Order.create(\${made})\`.texts
// @ts-expect-error There is no such status.
const wrong: NewOrder = { ...made, status: 'lost' }
// @ts-expect-error Computed fields are not written.
const computed: NewOrder = { ...made, total: 3 }
// @ts-expect-error The status is missing.
const short: Collections['Order']['indexes']['byCustomerAndStatus']['terms'] = [customer]
// @ts-expect-error A reference to a product is none to a customer.
const other: NewOrder = { ...made, customer: new DocumentRef<Collections['Product']['document']>('Product', '1') }
// @ts-expect-error There is no such field.
order.nothing
export { byId, change, computed, orders, other, query, short, status, terms, total, when, wrong }
`,
    programForFauna: `${fauna}
import type { Customer, NewOrder, Order } from './schema.ts'
declare const order: Order
declare const customer: Customer
const when: TimeStub = order.createdAt
const orders: Page<Order> = customer.orders
const made: NewOrder = { customer, status: 'cart', createdAt: new Date(), payment: {} }
const query = fql\`Order.create(\${made})\`
const queried = async (client: Client): Promise<Order> => (await client.query<Order>(fql\`1\`)).data
// @ts-expect-error There is no such status.
const wrong: NewOrder = { ...made, status: 'lost' }
export { orders, queried, query, when, wrong }
`,
  },
  authentication: {
    files: { 'auth.fsl': authenticationSchema('') },
    program: `import type { Collections, NewUser, User } from './schema.ts'
declare const user: User
const email: unknown = user.email
const id: string = user.id
const made: NewUser = { email: 'a@b.test', anything: { goes: true } }
const terms: Collections['Account']['indexes']['byUserId']['terms'] = [7]
// @ts-expect-error Of an open collection only metadata has a type.
const text: string = user.email
export { email, id, made, terms, text }
`,
    programForFauna: `${fauna}
import type { NewUser, User } from './schema.ts'
declare const user: User
const email: unknown = user.email
const made: NewUser = { email: 'a@b.test', anything: { goes: true } }
const query = fql\`User.create(\${made})\`
export { email, query }
`,
  },
  blog: {
    files: { 'blog.fsl': blog },
    program: `${client}
import type { Article, ArticleChanges, Author, Collections, Functions, NewArticle, NewAuthor } from './schema.ts'
declare const article: Article
declare const functions: Functions
const bio: string | undefined = ({} as Author).bio
const joined: LocalDate = ({} as Author).joined
const views: number | bigint = article.views
const cover: Uint8Array | undefined = article.cover
const writer: DocumentRef<Author> | null = article.writer
const guess: number | bigint = article.guess
const keywords: readonly string[] = article.meta.seo.keywords
const rest: unknown = article.meta['anything']
const author: NewAuthor = { name: 'Ann', handle: 'ann', bio: null, links: [{ label: 'home', url: 'https://a.test' }] }
const made: NewArticle = {
  title: 't', body: 'b', author: new DocumentRef('Author', '1'), tags: [], rating: new Double(4),
  publishedAt: new Date(), cover: new Uint8Array([1]), meta: { seo: { keywords: [] }, more: 1 },
}
const change: ArticleChanges = { publishedAt: null, state: 'published' }
const post: Collections['Post']['document'] = article
const tag: Collections['Article']['indexes']['byTag']['terms'] = ['news']
const seo: Collections['Article']['indexes']['bySeo']['terms'] = ['title', 'draft']
const published: Article = functions.publish('7', Time.now())
const latest: readonly Article[] = functions.latest(3, 'a', 'b')
const token = functions.logIn('ann', 'horse')
export const secretOfLogin: string | undefined = token.secret
export const user: string = token.document.id
const found = functions.find('ann')
const name: string | undefined = 'ref' in found ? undefined : found.name
const any: unknown = functions.anything(1, 'x')
export const titles: Page<string> = functions.titles('draft')
export const newest: Article | null = functions.newest()
export const writing: { readonly article: Article; readonly name: string; readonly count: number | bigint } = functions.writerOf('7')
export const sum: number | bigint | string = functions.plus(1, 2)
// @ts-expect-error The newest may be missing.
export const first: Article = functions.newest()
// @ts-expect-error The type of a function with a type error is unknown.
export const misspelt: string = functions.misspelt()
// @ts-expect-error The body is missing.
const wrong: NewArticle = { title: 't', author: new DocumentRef('Author', '1'), tags: [], meta: { seo: { keywords: [] } } }
// @ts-expect-error A tag is a text.
const number: Collections['Article']['indexes']['byTag']['terms'] = [7]
// @ts-expect-error A count is a number.
functions.latest('3')
// @ts-expect-error It may be missing.
const certain: string = ({} as Author).bio
export { any, author, bio, certain, change, cover, guess, joined, keywords, latest, made, name, number, post, published, rest, seo, tag, views, writer, wrong }
`,
    programForFauna: `${fauna}
import type { Article, Author, Functions, NewArticle } from './schema.ts'
declare const article: Article
declare const functions: Functions
const token = functions.logIn('ann', 'horse')
export const secretOfLogin: string | undefined = token.secret
export const user: string = token.document.id
const joined: DateStub = ({} as Author).joined
const views: number = article.views
const published: Article = functions.publish('7', new Date())
declare const made: NewArticle
const query = fql\`Article.create(\${made})\`
// @ts-expect-error A count is a number.
functions.latest('3')
export { joined, published, query, views }
`,
  },
  tracker: {
    files: { 'tracker.fsl': tracker },
    program: `${client}
import type { Functions, Issue, Member, NewIssue, NewMember } from './schema.ts'
declare const issue: Issue
declare const member: Member
declare const functions: Functions
const assignee: DocumentRef<Member> | undefined = issue.assignee
const due: LocalDate | undefined = issue.due
const estimate: number | bigint | 'unknown' = issue.estimate
const [x, y]: readonly [number, number] = issue.position
const first: Time | undefined = issue.history[0]?.at
const theme: 'dark' | 'light' | undefined = member.settings?.theme
const other: string | boolean | undefined = member.settings?.['other']
const made: NewIssue = {
  team: new DocumentRef('Team', '1'), number: 1, title: 't', estimate: 'unknown', position: [1, 2],
  history: [{ at: new Date(), by: member, change: { field: 'f', to: [1] } }], assignee: null,
}
const invited: NewMember = { team: new DocumentRef('Team', '1'), email: 'e', settings: { theme: 'dark', extra: 'x' } }
const assigned: Issue = functions.assign(issue, null)
const { next, open } = functions.stats(new DocumentRef('Team', '1'))
const title: string | undefined = next?.title
// @ts-expect-error A position has two numbers.
const wrong: NewIssue = { ...made, position: [1] }
// @ts-expect-error There is no such role.
const role: NewMember = { ...invited, role: 'boss' }
export { assigned, assignee, due, estimate, first, open, other, role, theme, title, wrong, x, y }
`,
    programForFauna: `${fauna}
import type { Issue } from './schema.ts'
declare const issue: Issue
const assignee: DocumentReference | undefined = issue.assignee
const due: DateStub | undefined = issue.due
const estimate: number | 'unknown' = issue.estimate
export { assignee, due, estimate }
`,
  },
  legacy: {
    files: { 'main.fsl': legacy },
    program: `import type { Collections, Locked, my_things, NewOpen, Open, OpenChanges, users } from './schema.ts'
declare const thing: my_things
declare const user: users
declare const open: Open
const any: unknown = thing.whatever
const same: Collections['my-things']['document'] = thing
const known: number = open.known
const more: unknown = open.more
const made: NewOpen = { known: 1, more: 'x' }
const a: string = ({} as Collections['class']['document']).a
const email: unknown = user.email
// @ts-expect-error It is a number.
const change: OpenChanges = { known: 'x', other: 'x' }
// @ts-expect-error Only fields of the collection.
const nothing = ({} as Locked).nothing
// @ts-expect-error It is a number.
const wrong: NewOpen = { known: 'x' }
export { a, any, change, email, known, made, more, nothing, same, wrong }
`,
    programForFauna: `import type { Collections, my_things, Open } from './schema.ts'
const known: number = ({} as Open).known
const any: unknown = ({} as my_things).whatever
const a: string = ({} as Collections['class']['document']).a
export { a, any, known }
`,
  },
}
