import { Table } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunListRow } from '../api/runs.js';
import { LongText } from './long-text.js';
import { PagedList } from './paged-list.js';
import { PlanCounts, RunStatusBadge } from './run-status.js';
import { Time } from './times.js';
import classes from './run-list.module.css';

type RunRowProps = { readonly organization: string; readonly run: RunListRow; readonly withWorkspace: boolean };

const RunRow = ({ organization, run, withWorkspace }: RunRowProps) => (
  <Table.Tr>
    <Table.Td>
      <RunStatusBadge status={run.status} />
    </Table.Td>
    <Table.Td className={classes['message']}>
      <LongText text={run.message}>
        <Link
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace: run.workspace, run: run.id }}
          className={classes['link']}
        >
          {run.message || run.id}
        </Link>
      </LongText>
    </Table.Td>
    {withWorkspace && (
      <Table.Td className={classes['workspace']}>
        <Link to="/$organization/workspaces/$workspace" params={{ organization, workspace: run.workspace }}>
          {run.workspace}
        </Link>
      </Table.Td>
    )}
    <Table.Td className={`${classes['wide']} ${classes['plan']}`}>
      {run.plan && <PlanCounts counts={run.plan} />}
    </Table.Td>
    <Table.Td className={classes['wide']}>{run.createdBy}</Table.Td>
    <Table.Td className={classes['wide']}>
      <Time value={run.createdAt} />
    </Table.Td>
  </Table.Tr>
);

type RunListProps = {
  readonly organization: string;
  readonly query: UseInfiniteQueryResult<{ readonly pages: readonly { readonly data: readonly RunListRow[] }[] }>;
  readonly withWorkspace: boolean;
  /** The content instead of an empty list. */
  readonly empty: ReactNode;
};

/** Runs, the newest first. */
export const RunList = ({ organization, query, withWorkspace, empty }: RunListProps) => (
  <PagedList query={query} what="list of runs" empty={empty} more="Load earlier runs">
    {(runs) => (
      <div className={classes['frame']}>
        <Table aria-label="Runs" verticalSpacing="sm" horizontalSpacing="md" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Status</Table.Th>
              <Table.Th>Message</Table.Th>
              {withWorkspace && <Table.Th>Workspace</Table.Th>}
              <Table.Th className={classes['wide']}>Plan</Table.Th>
              <Table.Th className={classes['wide']}>Created by</Table.Th>
              <Table.Th className={classes['wide']}>Created</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {runs.map((run) => (
              <RunRow key={run.id} organization={organization} run={run} withWorkspace={withWorkspace} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
    )}
  </PagedList>
);
