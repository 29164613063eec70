import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunListRow } from '../api/runs.js';
import { DataTable, type DataColumn } from './data-table.js';
import { PagedList } from './paged-list.js';
import { PlanCounts, RunStatusBadge } from './run-status.js';
import { Time } from './times.js';
import classes from './table-frame.module.css';

const listColumns = (organization: string, withWorkspace: boolean): readonly DataColumn<RunListRow>[] => {
  const workspace: DataColumn<RunListRow> = {
    header: 'Workspace',
    cell: (run) => (
      <Link to="/$organization/workspaces/$workspace" params={{ organization, workspace: run.workspace }}>
        {run.workspace}
      </Link>
    ),
  };
  return [
    {
      header: 'Message',
      isFilling: true,
      cell: (run) => (
        <Link
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace: run.workspace, run: run.id }}
          className={classes['name']}
        >
          {run.message || run.id}
        </Link>
      ),
    },
    { header: 'Status', cell: ({ status }) => <RunStatusBadge status={status} /> },
    ...(withWorkspace ? [workspace] : []),
    { header: 'Plan', isWide: true, cell: ({ plan }) => plan && <PlanCounts counts={plan} /> },
    { header: 'Created by', isWide: true, cell: ({ createdBy }) => createdBy },
    { header: 'Created', cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
};

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
    {(runs) => <DataTable label="Runs" rows={runs} columns={listColumns(organization, withWorkspace)} isLinked />}
  </PagedList>
);
