import { z } from 'zod';
import {
  calendarDayParameters,
  count,
  defineResource,
  describeController,
  exampleText,
  timestamp,
} from '#api/json-api/description';
import { AuditTrailActivityController } from './audit-trail-activity.controller.js';
import { AUDIT_TRAIL } from './audit-trail.openapi.js';

export const auditTrailActivitySchema = defineResource({
  name: 'AuditTrailActivity',
  type: 'audit-trail-activity',
  description:
    'The numbers of entries of the audit trail by hour. It has the name of the organization as its id. HCP Terraform does not have it.',
  exampleId: 'acme',
  attributes: {
    'time-zone': exampleText('Europe/Berlin', 'The time zone of the days.'),
    days: z
      .array(
        z.strictObject({
          date: exampleText('2026-01-31'),
          hours: z
            .array(
              z.strictObject({ start: timestamp('When the hour begins.'), count: count('The number of entries.') }),
            )
            .meta({ description: 'The hours of the day, 23 to 25 if the clock changes.' }),
        }),
      )
      .meta({ description: 'All days, the oldest first. The last one is today.' }),
  },
});

export const auditTrailActivityOperations = describeController(
  AuditTrailActivityController,
  { ...AUDIT_TRAIL, resource: auditTrailActivitySchema },
  { show: { summary: 'Count the entries of the audit trail by hour', query: calendarDayParameters() } },
);
