import { selectJsonTimestamp, sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectRangesOfLink } from '#api/access';
import { TASK_RECIPIENT } from '../runs/recipient.links.js';
import type { ReportSubject } from '../runs/run-event.js';
import type { RunStatus } from '../runs/run-status.js';

export type ResultForReport = {
  readonly id: string;
  readonly run: string;
  readonly workspace: string;
  readonly organization: string;
  readonly reportedRun: ReportSubject;
  readonly runStatus: RunStatus;
  /** Whether its stage runs and it has not ended. */
  readonly isOpen: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

export const findResultForReport = (database: Database, id: string): Promise<ResultForReport | undefined> =>
  database.row<ResultForReport>(sql`
    select t.id, t.run, t.workspace, t.organization, r.status as "runStatus", t.silent_since is not null as "isOpen",
           jsonb_build_object('workspaceName', w.name, 'runCreatedAt', ${selectJsonTimestamp('r.created_at')},
             'runCreatedBy', r.created_by ->> 'id', 'runMessage', r.message,
             'isSpeculative', (r.options ->> 'planOnly')::boolean) as "reportedRun",
           ${selectRangesOfLink(sql.raw('t.organization'), {
             type: sql`${TASK_RECIPIENT}::text`,
             id: sql.raw('t.id'),
           })} as "allowedRanges"
      from task_results t join runs r on r.id = t.run join workspaces w on w.id = t.workspace where t.id = ${id}`);
