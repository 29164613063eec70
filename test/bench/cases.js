// The requests that the bench measures. wrk.lua sends the writes, and the paths of the reads in turn.
import { pathOfPackage } from './provider.js';

const PAGE = 20;
const encode = (query) => new URLSearchParams({ 'page[size]': String(PAGE), ...query }).toString();
/** Clients ask for some workspaces often. A gateway keeps these in memory, and by far not all of a large organization. */
const OFTEN = 500;
const pickOften = (ids) => ids.filter((_, n) => n % Math.ceil(ids.length / OFTEN) === 0);
const listOf = ({ organization }, query = {}) => [`/api/v2/organizations/${organization}/workspaces?${encode(query)}`];

/**
 * Each read has its paths, and its budget as a multiple of bare Fastify that sends the same bytes; null: no budget.
 * `inFull`: only the full run measures it.
 */
const READS = {
  get: {
    title: 'GET workspace',
    budget: 4,
    paths: ({ ids }) => pickOften(ids).map((id) => `/api/v2/workspaces/${id}`),
  },
  any: {
    title: 'GET of any workspace in turn',
    inFull: true,
    paths: ({ ids }) => ids.map((id) => `/api/v2/workspaces/${id}`),
  },
  named: {
    title: 'GET workspace by name',
    budget: 4,
    inFull: true,
    paths: ({ organization, names }) =>
      pickOften(names).map((name) => `/api/v2/organizations/${organization}/workspaces/${name}`),
  },
  list: { title: 'list of 20', budget: 10, paths: (subject) => listOf(subject) },
  deep: {
    title: 'list of 20, last page',
    inFull: true,
    paths: (subject) => listOf(subject, { 'page[number]': String(Math.ceil(subject.workspaces / PAGE)) }),
  },
  search: {
    title: 'list of 20, by part of name',
    inFull: true,
    paths: (subject) => listOf(subject, { 'search[name]': 'sample' }),
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
    { name, isWrite, budget: null, inFull: false, isTrail: false, isOneByOne: false, ...values },
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
