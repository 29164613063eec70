import { conflict, notFound, type Clock, type Ids } from '#platform/kernel';
import { expectVersion, type EventStore } from '#storage/event-store';
import { createEventContext, UNRESTRICTED, type Actor } from '#api/access';
import { prepareNewToken, type IssuedToken, type NewToken } from '#identity/people';
import { isFinal } from './run-status.js';
import { run } from './run.js';
import type { RunOperations } from './runs.commands.js';
import { authorizeRunCommand } from './runs.permissions.js';
import { loadRunForCommand } from './runs.queries.js';

/** A run can wait for a person for months; its executor requests another token then. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1_000;

type TokenDependencies = { readonly ids: Ids; readonly clock: Clock };

/** Returns a new token of the run, for the append that records why it is issued. */
export const prepareRunToken = (
  { ids, clock }: TokenDependencies,
  organization: string,
  run: string,
  actor: Actor,
): NewToken => {
  const expiredAt = new Date(clock.now().getTime() + TOKEN_LIFETIME_MS).toISOString();
  const details = {
    kind: 'run',
    owner: run,
    description: null,
    expiredAt,
    organizations: [],
    restriction: UNRESTRICTED,
  } as const;
  return prepareNewToken(ids, organization, details, actor);
};

/** Issues a new token at each request, because an executor can lose its token. All of them end with the run. */
export const issueRunToken = (
  { store, ...dependencies }: TokenDependencies & { readonly store: EventStore },
  { id, actor }: RunOperations['IssueRunToken']['input'],
): Promise<IssuedToken> =>
  store.retryOnConflict(async () => {
    const row = await loadRunForCommand(store.database, actor, id);
    authorizeRunCommand(actor, 'IssueRunToken', row);
    const { state, version } = await store.restore(id, run, row.snapshot);
    if (state.status === 'absent') throw notFound();
    if (isFinal(state.status)) throw conflict(`Run is ${state.status}: there is nothing left to do for it`);
    const token = prepareRunToken(dependencies, row.organization, id, actor);
    const preconditions = [
      expectVersion(row.organization, row.organizationVersion),
      expectVersion(row.workspace, row.workspaceSnapshot.version),
      expectVersion(id, version),
    ];
    const { rows } = await store.append([...preconditions, token.write], createEventContext(actor), token.statements);
    return token.issued(rows);
  });
