import type { Treatment } from '#json-api';
import { membersOf, type Members } from './body-members.js';
import { NOT_BUILT, OTHER_BODIES, RESOURCES, SOURCES, type DocumentedResource, type RequestBody } from './requests.js';
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

/** A member of an object is covered by the object where that is refused or ignored as a whole. */
const isCovered = (member: string, members: Members): boolean => {
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

/** Members of go-tfe's requests that a schema drops, and members of schemas that nobody is known to send. */
export const gaps = (): string[] =>
  Object.entries(RESOURCES).flatMap(([name, resource]) => [
    ...resource.requests.flatMap((request) => droppedIn(name, request)),
    ...unexplainedIn(name, resource),
  ]);

const differences = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] => [
  ...[...some].filter((each) => !others.has(each)),
  ...[...others].filter((each) => !some.has(each)),
];

/** Requests of go-tfe that no resource names, or that do not exist. */
export const unlistedRequests = (): string[] => {
  const built = Object.values(RESOURCES).flatMap(({ requests }) => requests.flatMap(({ goTfe: names = [] }) => names));
  const listed = new Set([...built, ...Object.values(NOT_BUILT).flat()]);
  return differences(listed, new Set(Object.keys(vendorRequests)));
};

/** Routes with a body that no resource names, and named routes that do not exist. */
export const unlistedBodies = (routes: readonly Route[]): string[] => {
  const parsed = routes.filter(({ readsBody }) => readsBody).map(({ method, path }) => `${method} ${path}`);
  const named = Object.values(RESOURCES).flatMap(({ requests }) => requests.flatMap(({ routes: each }) => each));
  return differences(new Set(parsed), new Set([...named, ...OTHER_BODIES]));
};

const code = (text: string): string => `\`${text}\``;

const cell = (treatment: Treatment | undefined): string => treatment?.treatment ?? '–';

const sourceOf = (member: string, { requests, also = {} }: DocumentedResource): string => {
  const source = also[member];
  if (source !== undefined) return SOURCES[source];
  return vendorMembers(requests.flatMap(({ goTfe: names = [] }) => names)).has(member) ? 'go-tfe' : '';
};

const reasonOf = (treatments: readonly (Treatment | undefined)[]): string =>
  [...new Set(treatments.flatMap((each) => (each && 'why' in each ? [each.why] : [])))].join('; ');

const sectionOf = ([name, resource]: [string, DocumentedResource]): string[] => {
  const requests = resource.requests
    .map((request) => ({ ...request, members: membersOf(request.body) }))
    .filter(({ members }) => members.size > 0);
  const all = [...new Set(requests.flatMap(({ members }) => [...members.keys()]))].toSorted();
  const rows = all.map((member) => {
    const treatments = requests.map(({ members }) => members.get(member));
    return [code(member), ...treatments.map(cell), sourceOf(member, resource), reasonOf(treatments)];
  });
  if (rows.length === 0) return [];
  return [
    `## ${name}`,
    '',
    ...requests.map(({ name: each, routes }) => `- ${each}: ${routes.map(code).join(', ')}`),
    '',
    table(['Member', ...requests.map(({ name: each }) => each), 'Source', 'Why'], rows),
    '',
  ];
};

/** How the server treats each member of each request's body. */
export const compatibilityPage = (notice: string): string =>
  [
    '# Compatibility',
    '',
    notice,
    '',
    'This page lists what becomes of each attribute and relationship that clients of HCP Terraform and Terraform Enterprise',
    `send. It is made of the schemas that parse the bodies and of the requests of go-tfe ${goTfe.version}; a test fails when a`,
    'request has a member that its schema lacks, or a schema a member without a source.',
    '',
    '- **supported**: the server applies it, and shows it where the vendor does.',
    '- **kept**: the server stores and shows it. Nothing acts on it, because its feature is not built.',
    '- **refused**: the answer is a 422 that names the member. Values that ask for nothing are accepted and dropped: null,',
    '  `false`, an empty text, an empty list, a relationship without data.',
    '- **ignored**: the value is dropped, for the reason in the last column.',
    '- **–**: this request does not have the member.',
    '',
    'Names are those of `data.attributes`; a dot stands before a member of an object. `relationships.…` are those of',
    '`data.relationships`. Attributes may be written with underscores, as `session_timeout`.',
    '',
    'The server ignores members that this page does not list, as the vendor does, so that newer clients keep working. The',
    'objects `organization-access`, `project-access`, `workspace-access` and `setting-overwrites` are exceptions: an unknown',
    'member there is a 422.',
    '',
    'Requests whose bodies only name other resources by `type` and `id` are not listed. All routes:',
    '[endpoints.md](endpoints.md).',
    '',
    ...Object.entries(RESOURCES).flatMap(sectionOf),
    '## Not built',
    '',
    'The routes of these requests answer 404.',
    '',
    table(
      ['Subject', 'Requests of go-tfe'],
      Object.entries(NOT_BUILT).map(([subject, requests]) => [subject, requests.map(code).join(', ')]),
    ),
    '',
  ].join('\n');
