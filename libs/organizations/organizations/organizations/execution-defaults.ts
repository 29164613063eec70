import { unprocessable, type ExecutionMode } from '#platform/kernel';

/**
 * Default execution mode of workspaces and the agent pool of this mode. `mode` is null if a project follows the
 * organization.
 */
type ExecutionDefaults = { readonly mode: ExecutionMode | null; readonly pool: string | null };

type ExecutionDefaultsInput = { readonly [D in keyof ExecutionDefaults]: ExecutionDefaults[D] | undefined };

/** Returns the pool of a request. A change to a mode without agents removes the pool. */
export const resolveDefaultPool = ({ mode, pool }: ExecutionDefaultsInput): string | null | undefined =>
  pool === undefined && mode !== undefined && mode !== 'agent' ? null : pool;

/** Refuses a pool without the agent mode, and the agent mode without a pool. Clients know the texts. */
export const checkExecutionDefaults = ({ mode, pool }: ExecutionDefaults, pointer: string): void => {
  if (pool !== null && mode !== 'agent') {
    throw unprocessable("Default agent pool must not be specified unless using 'agent' execution mode", pointer);
  }
  if (pool === null && mode === 'agent') {
    throw unprocessable("Default agent pool must be specified when using 'agent' execution mode", pointer);
  }
};
