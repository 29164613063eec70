import { Text } from '@mantine/core';
import type { AuditTrailRow } from '../../api/audit-trail.js';
import { ResourceName } from '../../components/resource-name.js';
import { ExactTime } from '../../components/times.js';
import type { GridColumn } from '../../components/virtual-grid.js';
import { formatAction, formatSubject } from './action-words.js';
import classes from './audit-trail.module.css';

/** The columns of the list, newest entry first. */
export const TRAIL_COLUMNS: readonly GridColumn<AuditTrailRow>[] = [
  {
    id: 'time',
    header: 'Time',
    meta: { width: 'minmax(12rem, 1fr)' },
    cell: ({ row: { original } }) => <ExactTime value={original.timestamp} />,
  },
  {
    id: 'actor',
    header: 'Who',
    meta: { width: 'minmax(4rem, 1fr)' },
    cell: ({ row: { original } }) => original.auth.description,
  },
  {
    id: 'action',
    header: 'Action',
    meta: { width: 'minmax(8rem, 2.6fr)', isTitle: true },
    cell: ({ row: { original } }) => (
      <span className={classes['action']}>
        {formatSubject(original.resource)} <strong>{formatAction(original.resource.action)}</strong>
      </span>
    ),
  },
  {
    id: 'resource',
    header: 'Resource',
    meta: { width: 'minmax(9rem, 1.5fr)', isWide: true },
    cell: ({ row: { original } }) => <ResourceName id={original.resource.id} />,
  },
  {
    id: 'client',
    header: 'Address',
    meta: { width: 'minmax(7rem, 0.9fr)', isWide: true },
    cell: ({ row: { original } }) =>
      original.request.address ?? (
        <Text span size="sm" c="dimmed">
          {original.auth.type === 'System' ? 'the server' : '–'}
        </Text>
      ),
  },
];
