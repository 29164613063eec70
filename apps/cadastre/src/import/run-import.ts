import {
  ImportReport,
  ImportSourceError,
  ImportTarget,
  importFromService,
  loadCopies,
  SourceReader,
  withImportLock,
  type ImportContext,
  type ImportSummary,
  type SourceConnection,
  type SuppliedValues,
} from '#operations/service-imports';
import { findUserByName, issueUserToken, listTokensOf, revokeToken } from '#identity/people';
import { StartupError } from '#platform/host';
import type { Runtime } from '../../../runtime.js';
import { openImportGateway } from './import-gateway.js';

/** An import to run, with everything that the command line has read. */
export type ServiceImport = {
  readonly connection: SourceConnection;
  readonly organization: string;
  readonly into: string;
  /** The name of a user who is an owner of the organization that gets the resources. */
  readonly owner: string;
  readonly values: SuppliedValues;
  readonly mode: ImportContext['mode'];
  readonly newestStates: number | null;
  readonly signal: AbortSignal;
  readonly progress: ImportContext['progress'];
};

/** `failure`: what ended the import before its end, else null. */
export type ImportResult = {
  readonly summary: ImportSummary;
  readonly report: ImportReport;
  readonly failure: { readonly error: unknown } | null;
};

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Longer than the longest import. The token of an import that was killed ends by itself. */
const TOKEN_MS = 7 * DAY_MS;

/**
 * Runs the work with a token of the owner for this organization only. So an import changes nothing in any other one,
 * whatever the source sends.
 */
const withOwnerToken = async <T>(
  { store, ids, clock }: Runtime,
  { owner, into, organization, connection }: ServiceImport,
  work: (token: string) => Promise<T>,
): Promise<T> => {
  const { id } = await findUserByName(store, owner);
  const description = `cadastre import: ${organization} of ${connection.address.host} into ${into}`;
  const end = new Date(clock.now().getTime() + TOKEN_MS).toISOString();
  const secret = await issueUserToken(store, ids, id, description, end, { access: 'full', organization: into });
  try {
    return await work(secret);
  } finally {
    // Also those of imports that were killed.
    const tokens = (await listTokensOf(store, owner)).filter((token) => isImportToken(token.description, into));
    for (const token of tokens) await revokeToken(store, ids, token.id);
  }
};

const isImportToken = (description: string | null, into: string): boolean => {
  const text = description?.toLowerCase() ?? '';
  return text.startsWith('cadastre import: ') && text.endsWith(` into ${into.toLowerCase()}`);
};

/** Returns the id of the organization here. */
const requireOwner = async (target: ImportTarget, { owner, into }: ServiceImport): Promise<string> => {
  const organization = await target.find(`/api/v2/organizations/${into}`);
  const permissions = organization?.attributes['permissions'] as { readonly 'can-destroy'?: unknown } | undefined;
  const id = organization?.attributes['external-id'];
  if (permissions?.['can-destroy'] === true && typeof id === 'string') return id;
  throw new StartupError(
    `--owner: ${owner} must be an owner of the organization ${into} of this site. Create the organization first, or name ` +
      'another one with --into',
  );
};

/** Returns where the resources come from. The source decides how its organization is written. */
const findSource = async (source: SourceReader, { connection, organization }: ServiceImport): Promise<string> => {
  const resource = await source.find(`/api/v2/organizations/${organization}`);
  if (!resource) throw new ImportSourceError(`the source shows no organization ${organization} to this token`);
  return `${connection.address.origin}/app/${resource.id}`;
};

type ImportConnections = {
  readonly source: SourceReader;
  readonly target: ImportTarget;
  readonly report: ImportReport;
};

const createContext = async (
  { store, clock, settings }: Runtime,
  task: ServiceImport,
  { source, target, report }: ImportConnections,
): Promise<ImportContext> => {
  const { organization, into, values, mode, newestStates, signal, progress } = task;
  const { database } = store;
  const id = await requireOwner(target, task);
  const from = await findSource(source, task);
  return {
    source,
    target,
    database,
    clock,
    publicUrl: settings.publicUrl,
    report,
    from,
    copies: await loadCopies(database, { organization: id, from }),
    expected: { states: 0 },
    projects: new Map(),
    teams: new Map(),
    workspaces: new Map(),
    values,
    organization,
    into,
    mode,
    newestStates,
    signal,
    progress,
  };
};

/** Runs the import. After an error, the result has what was copied before. */
const importWithToken = async (runtime: Runtime, task: ServiceImport, token: string): Promise<ImportResult> => {
  const { clock } = runtime;
  const gateway = await openImportGateway(runtime, token);
  try {
    const connected = {
      source: new SourceReader(task.connection),
      target: new ImportTarget(gateway.fetch),
      report: new ImportReport(),
    };
    const startedAt = clock.now().toISOString();
    const context = await createContext(runtime, task, connected);
    const failure = await importFromService(context).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    const { from, into, mode, source, report } = context;
    const { states } = context.expected;
    const expected = { requests: states, seconds: Math.ceil(states / task.connection.requestsPerSecond) };
    const times = { startedAt, endedAt: clock.now().toISOString() };
    return { report, failure, summary: { from, into, mode, ...times, requests: source.requests, expected } };
  } finally {
    await gateway.close();
  }
};

/** Imports an organization of another server into one of this site, or says what it would do. */
export const runServiceImport = (runtime: Runtime, task: ServiceImport): Promise<ImportResult> =>
  withImportLock(runtime.store.database, task.into, () =>
    withOwnerToken(runtime, task, (token) => importWithToken(runtime, task, token)),
  );
