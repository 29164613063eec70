import { Refusal } from '#platform/kernel';
import { recordPing, upsertPing } from '#organizations/agents';
import { changeRun, type RunChangeDependencies } from './change-run.operation.js';
import type { RunOperations } from './runs.commands.js';
import type { RunRow } from './runs.queries.js';
import { findClaimableRun, hasLease, QUEUED_STATUS } from './run-leases.queries.js';

/**
 * Gives the agent the next run that waits for its pool. Resolves to null if there is none. Executors that ask at the same time
 * may choose the same run: the log decides, and the others choose again.
 */
export const claimRun = async (
  dependencies: RunChangeDependencies,
  { agent: id, phases, actor }: RunOperations['ClaimRun']['input'],
): Promise<RunRow | null> => {
  const { database } = dependencies.store;
  const now = dependencies.clock.now().toISOString();
  const agent = await recordPing(database, actor, id, (await hasLease(database, id)) ? 'busy' : 'idle', now);
  const statuses = phases.map((phase) => QUEUED_STATUS[phase]);
  const refused: string[] = [];
  for (;;) {
    const run = await findClaimableRun(database, agent.pool, statuses, refused);
    if (run === null) return null;
    try {
      const data = { agent: id, agentName: agent.name, pool: agent.pool };
      return await changeRun(dependencies, { id: run, comment: null, actor }, { type: 'ClaimRun', data }, [
        upsertPing(id, 'busy', now),
      ]);
    } catch (error) {
      if (!(error instanceof Refusal) || !['conflict', 'not-found'].includes(error.kind)) throw error;
      refused.push(run);
    }
  }
};
