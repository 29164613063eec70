import type { Treatment } from '#api/json-api';
import { closedMembersOf, hasClosedAttributes, membersOf, type BodyMembers } from './body-members.js';
import {
  NOT_BUILT,
  OTHER_BODIES,
  RESOURCES,
  DOCUMENTATION_SOURCES,
  type DocumentedResource,
  type RequestBody,
} from './requests.js';
import type { Route } from '../support/gateway-routes.js';
import { table } from './tables.js';
import goTfe from './vendor/go-tfe.json' with { type: 'json' };

type VendorRequest = { readonly attributes: readonly string[]; readonly relationships: readonly string[] };

const vendorRequests: Readonly<Record<string, VendorRequest>> = goTfe.requests;

const vendorMembers = (requests: readonly string[]): ReadonlySet<string> =>
  new Set(
    requests.flatMap((name) => {
      const { attributes = [], relationships = [] } = vendorRequests[name] ?? {};
      return [...attributes, ...relationships.map((each) => `relationships.${each}`)];
    }),
  );

const parentOf = (member: string): string | null =>
  member.startsWith('relationships.') || !member.includes('.') ? null : member.slice(0, member.lastIndexOf('.'));

/** Returns whether the schema covers a member. An object that is refused or ignored as a whole covers its members. */
const isCovered = (member: string, members: BodyMembers): boolean => {
  if (members.has(member)) return true;
  const parent = parentOf(member);
  const treatment = parent === null ? undefined : members.get(parent)?.treatment;
  return treatment === 'refused' || treatment === 'ignored';
};

const droppedIn = (resource: string, { name, body, goTfe: requests = [] }: RequestBody): string[] => {
  const members = membersOf(body);
  return [...vendorMembers(requests)]
    .filter((member) => !isCovered(member, members))
    .map((member) => `${resource} ${name}: ${member} of ${requests.join(', ')} is not in the body's schema`);
};

const unexplainedIn = (resource: string, { requests, also = {} }: DocumentedResource): string[] => {
  const members = new Set(requests.flatMap(({ body }) => [...membersOf(body).keys()]));
  const vendor = vendorMembers(requests.flatMap(({ goTfe: names = [] }) => names));
  return [
    ...[...members]
      .filter((member) => !vendor.has(member) && !(member in also))
      .map((member) => `${resource}: ${member} has no source`),
    ...Object.keys(also)
      .filter((member) => !members.has(member) || vendor.has(member))
      .map((member) => `${resource}: ${member} needs no source`),
  ];
};

/** Returns members of go-tfe's requests that a schema drops, and members of schemas without a known sender. */
export const gaps = (): string[] =>
  Object.entries(RESOURCES).flatMap(([name, resource]) => [
    ...resource.requests.flatMap((request) => droppedIn(name, request)),
    ...unexplainedIn(name, resource),
  ]);

const differences = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] => [
  ...[...some].filter((each) => !others.has(each)),
  ...[...others].filter((each) => !some.has(each)),
];

/** Returns requests of go-tfe that are neither built nor listed as not built, that are both, or that do not exist. */
export const misplacedRequests = (): string[] => {
  const built = new Set(
    Object.values(RESOURCES).flatMap(({ requests }) => requests.flatMap(({ goTfe: names = [] }) => names)),
  );
  const notBuilt = new Set(Object.values(NOT_BUILT).flat());
  return [
    ...differences(new Set([...built, ...notBuilt]), new Set(Object.keys(vendorRequests))),
    ...[...built].filter((name) => notBuilt.has(name)),
  ];
};

/** Returns routes with a body that no resource names, except forms, and named routes that do not exist. */
export const unlistedBodies = (routes: readonly Route[]): string[] => {
  const parsed = routes
    .filter(({ readsBody, isPage }) => readsBody && !isPage)
    .map(({ method, path }) => `${method} ${path}`);
  const listedRoutes = Object.values(RESOURCES).flatMap(({ requests }) => requests.flatMap(({ routes: each }) => each));
  return differences(new Set(parsed), new Set([...listedRoutes, ...OTHER_BODIES]));
};

const code = (text: string): string => `\`${text}\``;

const cell = (treatment: Treatment | undefined): string => treatment?.treatment ?? '–';

const sourceOf = (member: string, { requests, also = {} }: DocumentedResource): string => {
  const source = also[member];
  if (source !== undefined) return DOCUMENTATION_SOURCES[source];
  return vendorMembers(requests.flatMap(({ goTfe: names = [] }) => names)).has(member) ? 'go-tfe' : '';
};

const reasonOf = (treatments: readonly (Treatment | undefined)[]): string =>
  [...new Set(treatments.flatMap((each) => (each && 'why' in each ? [each.why] : [])))].join('; ');

type DocumentedRequest = RequestBody & { readonly members: BodyMembers };

/** Returns the requests of a resource that send more than the identifiers of other resources. */
const requestsOf = ({ requests }: DocumentedResource): DocumentedRequest[] =>
  requests
    .map((request) => ({ ...request, members: membersOf(request.body) }))
    .filter(({ members }) => members.size > 0);

const namesIn = (requests: readonly DocumentedRequest[]): string[] =>
  [...new Set(requests.flatMap(({ members }) => [...members.keys()]))].toSorted();

const listed = (names: readonly string[]): string => names.map(code).join(', ');

const ofUnknownMembers = (requests: readonly DocumentedRequest[]): string => {
  const members = new Set(requests.flatMap(({ body }) => closedMembersOf(body)));
  const closed = [
    ...requests.filter(({ body }) => hasClosedAttributes(body)).map(({ name }) => `the request “${name}”`),
    ...[...members].map(code),
  ];
  return closed.length === 0
    ? 'Members that are not in the table: ignored.'
    : `Members that are not in the table: refused in ${closed.join(', ')}, ignored elsewhere.`;
};

const sectionOf = ([name, resource]: [string, DocumentedResource]): string[] => {
  const requests = requestsOf(resource);
  if (requests.length === 0) return [];
  const rows = namesIn(requests).map((member) => {
    const treatments = requests.map(({ members }) => members.get(member));
    return [code(member), ...treatments.map(cell), sourceOf(member, resource), reasonOf(treatments)];
  });
  return [
    `## ${name}`,
    '',
    ...requests.map(({ name: each, routes }) => `- ${each}: ${listed(routes)}`),
    '',
    table(['Member', ...requests.map(({ name: each }) => each), 'Source', 'Reason'], rows),
    '',
    ofUnknownMembers(requests),
    '',
  ];
};

/** Treatments of the overview, which leaves out supported members. */
const LIMITED = ['kept', 'refused', 'ignored'] as const;

const overviewRow = ([name, resource]: [string, DocumentedResource]): string[][] => {
  const requests = requestsOf(resource);
  const cells = LIMITED.map((treatment) =>
    namesIn(requests).filter((member) => requests.some(({ members }) => members.get(member)?.treatment === treatment)),
  );
  return cells.every(({ length }) => length === 0) ? [] : [[`[${name}](#${name})`, ...cells.map(listed)]];
};

/** Renders how the server treats each member of each request's body. */
export const compatibilityPage = (notice: string): string =>
  [
    '# Compatibility',
    '',
    notice,
    '',
    'Clients of HCP Terraform and Terraform Enterprise send requests that Cadastre accepts unchanged. Use this page to look up',
    'what the server does with each attribute and relationship of a request.',
    '',
    table(
      ['Word', 'What the server does'],
      [
        ['supported', 'Applies the value, and shows it where the vendor shows it.'],
        ['kept', 'Stores and shows the value. Nothing acts on it, because its feature is not built.'],
        [
          'refused',
          'Answers 422 and names the member. A value that asks for nothing is dropped instead: null, `false`, an empty text, an empty list, or a relationship without data.',
        ],
        ['ignored', 'Drops the value. The column “Reason” says why.'],
        ['–', 'The request does not have the member.'],
      ],
    ),
    '',
    '- `vcs-repo.branch` is the member `branch` of the attribute `vcs-repo`. `relationships.project` is the relationship',
    '  `project`.',
    '- You can write attributes with underscores, such as `session_timeout`.',
    '- Names of organizations, projects, workspaces, teams, agent pools, variable sets and providers are unique and found regardless',
    '  of case, and shown as written. Tags and keys keep their case.',
    '- The column “Source” names the client or document that has the member.',
    '- The server ignores most members that this page does not list, as the vendor does, so that newer clients keep working.',
    '  The line below each table names the attributes that refuse unknown members with a 422.',
    '- Requests that only name other resources by `type` and `id`, uploads and [facts](facts.md) are not on this page.',
    '  [endpoints.md](endpoints.md) lists all routes.',
    '',
    'The page is generated from the schemas that parse the requests. Tests fail if a route parses its body with another schema,',
    `if a request of go-tfe ${goTfe.version} has a member that its schema lacks, or if a schema has a member without a source.`,
    '',
    '## Members without full support',
    '',
    'The server supports every member that this table leaves out.',
    '',
    table(['Resource', 'Kept', 'Refused', 'Ignored'], Object.entries(RESOURCES).flatMap(overviewRow)),
    '',
    ...Object.entries(RESOURCES).flatMap(sectionOf),
    '## Not built',
    '',
    'These requests of go-tfe answer 404, or 405 if the address has other methods, because no route is built for them.',
    '',
    table(
      ['Subject', 'Requests of go-tfe'],
      Object.entries(NOT_BUILT).map(([subject, requests]) => [subject, requests.map(code).join(', ')]),
    ),
    '',
  ].join('\n');
