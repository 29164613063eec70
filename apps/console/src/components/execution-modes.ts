import type { WorkspaceExecutionMode } from '../api/inherited-execution.js';

/** The words for the execution modes of workspaces. */
export const EXECUTION_MODES: Readonly<
  Record<WorkspaceExecutionMode, { readonly label: string; readonly description: string }>
> = {
  remote: { label: 'Remote', description: 'Agents of a pool for remote runs execute its runs.' },
  local: { label: 'Local', description: 'Terraform plans and applies where you start it. The state is here.' },
  agent: { label: 'Agent', description: 'Agents of the pool below execute its runs.' },
};
