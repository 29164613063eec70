// The requests that the bench measures. wrk.lua sends the writes, and the paths of the reads in turn or at random.
import { pathOfPackage } from './provider.js';
import { createRandom } from './statistics.js';

const PAGE = 20;
const encode = (query) => new URLSearchParams({ 'page[size]': String(PAGE), ...query }).toString();
/** Clients ask for some workspaces often. A gateway keeps these in memory, and by far not all of a large organization. */
const OFTEN = 500;
const pickOften = (ids) => ids.filter((_, n) => n % Math.ceil(ids.length / OFTEN) === 0);
const pathOfId = (id) => `/api/v2/workspaces/${id}`;
const pathOfNames = ({ organization }, name) => `/api/v2/organizations/${organization}/workspaces/${name}`;
const listOf = ({ organization }, query = {}) => [`/api/v2/organizations/${organization}/workspaces?${encode(query)}`];

const countPages = ({ workspaces }) => Math.ceil(workspaces / PAGE);
const listPages = (subject) =>
  Array.from({ length: countPages(subject) }, (_, n) => listOf(subject, { 'page[number]': String(n + 1) })[0]);

/** Returns searches of fragments of names, of four to eight characters at any position. Few repeat. */
const listSearches = (subject) => {
  const random = createRandom(1);
  const fragmentOf = (name) => {
    const length = 4 + Math.floor(random() * 5);
    const start = Math.floor(random() * (name.length - length + 1));
    return name.slice(start, start + length);
  };
  return subject.names.map((name) => listOf(subject, { 'search[name]': fragmentOf(name) })[0]);
};

/** Returns paths of which 8 of 9 are of one workspace, and the other is a page or a search. wrk.lua adds the writes. */
const listMixedReads = (subject) => {
  const [gets, lists] = [subject.ids.map(pathOfId), [...listPages(subject), ...listSearches(subject)]];
  const random = createRandom(2);
  const pickOne = (all) => all[Math.floor(random() * all.length)];
  return Array.from({ length: 9 * Math.ceil(gets.length / 8) }, (_, n) => pickOne(n % 9 === 8 ? lists : gets));
};

/**
 * Each read has its paths, and its budget as a multiple of bare Fastify that sends the same bytes; null: no budget.
 * `cpuBudget`: ms of CPU of all processes. `isRandom`: each request draws one of the paths, as clients of a large
 * organization do: those cases show what the memory of a gateway does not hold. `inFull`: only the full run measures it.
 */
const READS = {
  get: {
    title: 'GET workspace',
    budget: 4,
    paths: ({ ids }) => pickOften(ids).map(pathOfId),
  },
  any: {
    title: 'GET workspace, random of all',
    budget: 4,
    isRandom: true,
    paths: ({ ids }) => ids.map(pathOfId),
  },
  named: {
    title: 'GET workspace by name',
    budget: 4,
    inFull: true,
    paths: (subject) => pickOften(subject.names).map((name) => pathOfNames(subject, name)),
  },
  'any-name': {
    title: 'GET workspace by name, random of all',
    budget: 4,
    isRandom: true,
    paths: (subject) => subject.names.map((name) => pathOfNames(subject, name)),
  },
  list: { title: 'list of 20', budget: 10, paths: (subject) => listOf(subject) },
  deep: {
    title: 'list of 20, last page',
    inFull: true,
    paths: (subject) => listPages(subject).slice(-1),
  },
  'any-page': { title: 'list of 20, random page', budget: 12, isRandom: true, paths: listPages },
  search: {
    title: 'list of 20, by part of name',
    inFull: true,
    paths: (subject) => listOf(subject, { 'search[name]': 'sample' }),
  },
  'any-search': {
    title: 'list of 20, by random part of name',
    cpuBudget: 0.8,
    isRandom: true,
    paths: listSearches,
  },
  tagged: {
    title: 'list of 20, by tag',
    inFull: true,
    paths: (subject) => listOf(subject, { 'search[tags]': 'sample' }),
  },
  inherited: {
    title: 'list of 20, by two inherited tags',
    inFull: true,
    paths: (subject) => listOf(subject, { 'filter[tagged][0][key]': 'cost-center', 'filter[tagged][1][key]': 'owner' }),
  },
  included: {
    title: 'list of 20, with organization and project',
    inFull: true,
    paths: (subject) => listOf(subject, { include: 'organization,project' }),
  },
  mixed: {
    title: '80 % random GETs, 10 % pages and searches, 10 % writes',
    cpuBudget: 0.4,
    mode: 'mixed',
    bound: 'update',
    writes: 0.1,
    paths: listMixedReads,
  },
  trail: {
    title: 'trail page of 20',
    inFull: true,
    isTrail: true,
    paths: () => [`/api/v2/organization/audit-trail?${encode({})}`],
  },
  provider: {
    title: 'provider download',
    inFull: true,
    paths: ({ organization }) => [pathOfPackage(organization)],
  },
};

/** Each write has the statement of its bound (pgbench.js). */
const WRITES = {
  lock: { title: 'lock, unlock', bound: 'update', budget: 4 },
  contended: { title: 'lock, unlock of one workspace (200 or 409)', bound: 'update', inFull: true },
  patch: { title: 'PATCH', bound: 'update', budget: 4 },
  tag: { title: 'add tag, remove tag', bound: 'update', inFull: true },
  /** All of these requests change the same project. */
  bind: { title: 'PATCH of a binding of the project', bound: 'update', inFull: true, isOneByOne: true },
  create: { title: 'create', bound: 'insert', budget: 4 },
};

const completed = (cases, isWrite) =>
  Object.entries(cases).map(([name, values]) => [
    name,
    {
      name,
      isWrite,
      mode: isWrite ? name : values.isRandom ? 'random' : 'read',
      writes: isWrite ? 1 : 0,
      budget: null,
      cpuBudget: null,
      inFull: false,
      isTrail: false,
      isOneByOne: false,
      ...values,
    },
  ]);

export const CASES = Object.fromEntries([...completed(READS, false), ...completed(WRITES, true)]);

/** Returns the cases of these names, those of the short run, or all. */
export const selectCases = (names, isFull) => {
  if (!names) return Object.values(CASES).filter(({ inFull }) => isFull || !inFull);
  const unknown = names.find((name) => !CASES[name]);
  if (unknown !== undefined)
    throw new Error(`there is no case "${unknown}". The cases are: ${Object.keys(CASES).join(', ')}`);
  return names.map((name) => CASES[name]);
};
