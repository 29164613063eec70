import { notFound } from '#platform/kernel';
import { can, requirePermission, type Actor, type Permission } from '#api/access';
import type { RunOperations } from './runs.commands.js';
import type { RunForCommand } from './runs.queries.js';

const PERMISSION = {
  ConfirmRun: 'apply-run',
  DiscardRun: 'apply-run',
  CancelRun: 'apply-run',
  ForceCancelRun: 'force-cancel-run',
  ForceExecuteRun: 'apply-run',
  CommentRun: 'comment-run',
  OverridePolicies: 'override-policies',
  ReportProgress: 'execute-run',
  ClaimRun: 'execute-run',
  IssueRunToken: 'execute-run',
} as const satisfies Record<Exclude<keyof RunOperations, 'CreateRun' | 'ForceCancelAnyRun'>, Permission>;

/** Returns 404 to executors of other runs, and to other callers that cannot read the run. */
export const authorizeRunCommand = (actor: Actor, type: keyof typeof PERMISSION, row: RunForCommand): void => {
  const permission = PERMISSION[type];
  if (permission === 'execute-run' ? !row.executable : !can(actor, 'read-runs', row)) throw notFound();
  requirePermission(actor, permission, row);
};
