import {
  ImportReport,
  ImportTarget,
  importFromService,
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

export type ImportResult = { readonly summary: ImportSummary; readonly report: ImportReport };

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
    const tokens = (await listTokensOf(store, owner)).filter((token) => token.description === description);
    for (const token of tokens) await revokeToken(store, ids, token.id);
  }
};

const requireOwner = async (target: ImportTarget, { owner, into }: ServiceImport): Promise<void> => {
  const organization = await target.find(`/api/v2/organizations/${into}`);
  const permissions = organization?.attributes['permissions'] as { readonly 'can-destroy'?: unknown } | undefined;
  if (permissions?.['can-destroy'] === true) return;
  throw new StartupError(
    `--owner: ${owner} must be an owner of the organization ${into} of this site. Create the organization first, or name ` +
      'another one with --into',
  );
};

const createContext = (
  { store, clock, settings }: Runtime,
  task: ServiceImport,
  target: ImportTarget,
): ImportContext => {
  const { connection, organization, into, values, mode, newestStates, signal, progress } = task;
  return {
    source: new SourceReader(connection),
    target,
    database: store.database,
    clock,
    publicUrl: settings.publicUrl,
    report: new ImportReport(),
    from: `${connection.address.origin}/app/${organization}`,
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

const importWithToken = async (runtime: Runtime, task: ServiceImport, token: string): Promise<ImportResult> => {
  const { clock } = runtime;
  const gateway = await openImportGateway(runtime, token);
  try {
    const context = createContext(runtime, task, new ImportTarget(gateway.fetch));
    await requireOwner(context.target, task);
    const startedAt = clock.now().toISOString();
    await importFromService(context);
    const { from, into, mode, source, report } = context;
    const { states } = context.expected;
    const expected = { requests: states, seconds: Math.ceil(states / task.connection.requestsPerSecond) };
    const times = { startedAt, endedAt: clock.now().toISOString() };
    return { report, summary: { from, into, mode, ...times, requests: source.requests, expected } };
  } finally {
    await gateway.close();
  }
};

/** Imports an organization of another server into one of this site, or says what it would do. */
export const runServiceImport = (runtime: Runtime, task: ServiceImport): Promise<ImportResult> =>
  withImportLock(runtime.store.database, task.into, () =>
    withOwnerToken(runtime, task, (token) => importWithToken(runtime, task, token)),
  );
