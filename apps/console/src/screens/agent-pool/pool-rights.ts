import type { AgentPool } from '../../api/agent-pools.js';
import { NO_POOL_CHANGE } from '../agent-pools/agent-pool-words.js';

export type PoolProps = {
  readonly organization: string;
  readonly pool: AgentPool;
  readonly rights: { readonly canManage: boolean; readonly isOwner: boolean };
};

/** Returns why the person may not change the pool and its tokens, or null. */
export const explainPoolRefusal = ({ pool, rights }: PoolProps): string | null => {
  if (!rights.canManage) return NO_POOL_CHANGE;
  // Its tokens can read the state of all workspaces in remote mode.
  if (pool.attributes['remote-runs-enabled'] && !rights.isOwner) {
    return 'The pool executes remote runs, so you need to be an owner of the organization.';
  }
  return null;
};
