import { Badge, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunListRow } from '../api/runs.js';
import { DataTable, type DataColumn } from './data-table.js';
import { PagedList } from './paged-list.js';
import { formatDuration, formatRunSource, listRunKinds, measureRun } from './run-facts.js';
import { PlanCounts, RunStatusBadge } from './run-status.js';
import { Time, useNow } from './times.js';
import classes from './table-frame.module.css';

/** Badges of runs that do not simply plan and apply. */
export const RunKinds = ({ run }: { readonly run: RunListRow['attributes'] }) =>
  listRunKinds(run).map((kind) => (
    <Badge key={kind} variant="default" {...(kind === 'Destroy' ? { c: 'red' } : {})}>
      {kind}
    </Badge>
  ));

const Duration = ({ run: { attributes } }: { readonly run: RunListRow }) => {
  const ms = measureRun(attributes['status-timestamps'], useNow());
  return ms !== null && formatDuration(ms);
};

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
      cell: ({ id, attributes, workspace: name }) => (
        <Link
          to="/$organization/workspaces/$workspace/runs/$run"
          params={{ organization, workspace: name, run: id }}
          className={classes['name']}
          title={attributes.message}
        >
          {attributes.message || id}
        </Link>
      ),
    },
    {
      header: 'Status',
      cell: ({ attributes }) => (
        <RunStatusBadge run={{ status: attributes.status, hasChanges: attributes['has-changes'] }} />
      ),
    },
    {
      header: 'Kind',
      cell: ({ attributes }) => {
        const kinds = listRunKinds(attributes).join(', ');
        return attributes['is-destroy'] ? (
          <Text size="sm" c="red">
            {kinds}
          </Text>
        ) : (
          kinds
        );
      },
    },
    ...(withWorkspace ? [workspace] : []),
    { header: 'Plan', cell: ({ plan }) => plan && <PlanCounts counts={plan} /> },
    { header: 'Duration', isWide: true, cell: (run) => <Duration run={run} /> },
    {
      header: 'Queued by',
      isWide: true,
      cell: ({ createdBy, attributes }) => `${createdBy} (${formatRunSource(attributes.source)})`,
    },
    { header: 'Queued', cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
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
