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
  const found = await target.find(`/api/v2/organizations/${into}`);
  const permissions = found?.attributes['permissions'] as { readonly 'can-destroy'?: unknown } | undefined;
  if (permissions?.['can-destroy'] === true) return;
  throw new StartupError(
    `--owner: ${owner} must be an owner of the organization ${into} of this site. Create the organization first, or name ` +
      'another one with --into',
  );
};

const importWithToken = async (runtime: Runtime, task: ServiceImport, token: string): Promise<ImportResult> => {
  const { store, clock } = runtime;
  const { connection, organization, into, values, mode, newestStates, signal, progress } = task;
  const gateway = await openImportGateway(runtime, token);
  try {
    const source = new SourceReader(connection);
    const target = new ImportTarget(gateway.fetch);
    const report = new ImportReport();
    await requireOwner(target, task);
    const from = `${connection.address.origin}/app/${organization}`;
    const startedAt = clock.now().toISOString();
    const expected = { states: 0 };
    const copies = { projects: new Map(), teams: new Map(), workspaces: new Map() };
    const control = { signal, progress, expected, clock, database: store.database };
    await importFromService({
      source,
      target,
      report,
      values,
      organization,
      into,
      from,
      mode,
      newestStates,
      ...copies,
      ...control,
    });
    const seconds = Math.ceil(expected.states / connection.requestsPerSecond);
    const work = { requests: source.requests, expected: { requests: expected.states, seconds } };
    return { report, summary: { from, into, mode, startedAt, endedAt: clock.now().toISOString(), ...work } };
  } finally {
    await gateway.close();
  }
};

/** Imports an organization of another server into one of this site, or says what it would do. */
export const runServiceImport = (runtime: Runtime, task: ServiceImport): Promise<ImportResult> =>
  withImportLock(runtime.store.database, task.into, () =>
    withOwnerToken(runtime, task, (token) => importWithToken(runtime, task, token)),
  );
