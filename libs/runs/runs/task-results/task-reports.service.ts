import { notFound, type EventContext, type Ids } from '#platform/kernel';
import { requireAddressOfLink } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { z } from 'zod';
import { createEndedResultRefusal } from '../runs/run-continuation.js';
import { changeForJob } from '../runs/change-run.operation.js';
import { TaskOutcomeBodies } from '../task-stages/task-outcome.bodies.js';
import type { taskReportBody } from './task-report.body.js';
import { findResultForReport, type ResultForReport } from './task-reports.queries.js';

type Report = z.infer<typeof taskReportBody>['data'];

/** Records what services of run tasks report. */
export class TaskReports {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly bodies: TaskOutcomeBodies,
  ) {}

  /**
   * Returns the result. Throws 404 if there is none, 403 for an address that the organization does not allow, and 409 if no report
   * can change it: the body of such a report is not read.
   */
  async find(id: string, address: string | null): Promise<ResultForReport> {
    const result = await findResultForReport(this.store.database, id);
    if (!result) throw notFound();
    requireAddressOfLink(result.allowedRanges, address);
    if (!result.isOpen) throw createEndedResultRefusal(result.runStatus, id);
    return result;
  }

  async record(result: ResultForReport, report: Report, context: EventContext): Promise<void> {
    const { id, run, workspace, organization, reportedRun } = result;
    const { status, message, url } = report.attributes;
    const sent = (report.relationships?.outcomes?.data ?? []).map(({ attributes }) => ({
      body: attributes.body ?? '',
      outcome: {
        id: this.ids.next('tro'),
        outcomeId: attributes['outcome-id'],
        description: attributes.description,
        url: attributes.url || null,
        hasBody: Boolean(attributes.body),
        tags: attributes.tags ?? {},
      },
    }));
    const bodies = sent.filter(({ body }) => body !== '');
    const statements = await Promise.all(
      bodies.map(({ body, outcome }) => this.bodies.store({ run, workspace, organization }, outcome.id, body)),
    );
    const outcomes = sent.map(({ outcome }) => outcome);
    const data = { result: id, status, message: message ?? '', url: url ?? '', outcomes, reportedRun };
    await changeForJob(this.store, run, { type: 'ReportTaskResult', data }, context, statements);
  }
}
