import { unprocessable, type ExecutionMode } from '#kernel';

/** Where workspaces run that do not say it themselves, and by which agents; `mode` null follows the organization. */
export type ExecutionDefaults = { readonly mode: ExecutionMode | null; readonly pool: string | null };

type ExecutionDefaultsInput = { readonly [D in keyof ExecutionDefaults]: ExecutionDefaults[D] | undefined };

/** What a request says of the pool: who leaves the agent mode leaves the pool too. */
export const resolveDefaultPool = ({ mode, pool }: ExecutionDefaultsInput): string | null | undefined =>
  pool === undefined && mode !== undefined && mode !== 'agent' ? null : pool;

/** A pool is for the agent mode, which cannot do without. Texts are those in use (clients.md §2). */
export const checkExecutionDefaults = ({ mode, pool }: ExecutionDefaults, pointer: string): void => {
  if (pool !== null && mode !== 'agent') {
    throw unprocessable("Default agent pool must not be specified unless using 'agent' execution mode", pointer);
  }
  if (pool === null && mode === 'agent') {
    throw unprocessable("Default agent pool must be specified when using 'agent' execution mode", pointer);
  }
};
