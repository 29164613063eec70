import { Refusal } from '#platform/kernel';
import { recordPing, upsertPing } from '#organizations/agents';
import { getViolatedConstraint } from '#platform/postgres';
import { changeRun, type RunChangeDependencies } from './change-run.operation.js';
import type { RunOperations } from './runs.commands.js';
import type { RunRow } from './runs.queries.js';
import {
  findClaimableRun,
  hasLease,
  insertLease,
  QUEUED_STATUS,
  recordTurn,
  SLOT_CONSTRAINT,
  type SiteRunLimit,
} from './run-leases.queries.js';

type ClaimDependencies = RunChangeDependencies & { readonly siteRunLimit: SiteRunLimit };

/** Whether another process has claimed the run, or has used the last slot of its organization. */
const isLostRace = (error: unknown): boolean =>
  getViolatedConstraint(error) === SLOT_CONSTRAINT ||
  (error instanceof Refusal && ['conflict', 'not-claimable'].includes(error.kind));

/**
 * Gives the agent the next run that waits for its pool. Resolves to null if there is none. Executors that ask different processes
 * at the same time may choose the same run: the log decides, and the others choose again.
 */
export const claimRun = async (
  dependencies: ClaimDependencies,
  { agent: id, phases, actor }: RunOperations['ClaimRun']['input'],
): Promise<RunRow | null> => {
  const { clock, siteRunLimit, store } = dependencies;
  const now = clock.now();
  const at = now.toISOString();
  const agent = await recordPing(store.database, actor, id, (await hasLease(store.database, id)) ? 'busy' : 'idle', at);
  const statuses = phases.map((phase) => QUEUED_STATUS[phase]);
  const refused: string[] = [];
  for (;;) {
    const claimable = await findClaimableRun(
      store.database,
      { pool: agent.pool, statuses, except: refused },
      siteRunLimit,
    );
    if (!claimable) return null;
    const { run, organization, slot } = claimable;
    const command = { type: 'ClaimRun', data: { agent: id, agentName: agent.name, pool: agent.pool } } as const;
    const turn = slot === null || slot < 0 ? [] : [recordTurn(organization)];
    const also = [insertLease(run, slot, now), ...turn, upsertPing(id, 'busy', at)];
    try {
      return await changeRun(dependencies, { id: run, comment: null, actor }, command, also);
    } catch (error) {
      if (!isLostRace(error)) throw error;
      if (error instanceof Refusal) refused.push(run);
    }
  }
};
