import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { changesTodayQuery, lastChangesQuery, locksQuery, waitingRunsQuery } from '../../api/home.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { LongText } from '../../components/long-text.js';
import { RunStatusBadge } from '../../components/run-status.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time, useMidnight } from '../../components/times.js';
import classes from './home.module.css';

export type CardProps = { readonly organization: string };

type WorkspaceLinkProps = CardProps & { readonly name: string };

const WorkspaceLink = ({ organization, name }: WorkspaceLinkProps) => (
  <Link
    to="/$organization/workspaces/$workspace"
    params={{ organization, workspace: name }}
    className={classes['name']}
  >
    {name}
  </Link>
);

type RowProps = { readonly time: string; readonly children: ReactNode };

export const Row = ({ time, children }: RowProps) => (
  <li className={classes['row']}>
    <div>{children}</div>
    <span className={classes['time']}>
      <Time value={time} />
    </span>
  </li>
);

export const Nothing = ({ children }: { readonly children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
);

export const More = ({
  count,
  total,
  what,
}: {
  readonly count: number;
  readonly total: number;
  /** The noun in the singular. */
  readonly what: string;
}) =>
  total > count ? (
    <Text size="sm" c="dimmed">
      and {formatCount(total - count, `more ${what}`)}
    </Text>
  ) : null;

const ChangesToday = ({ organization }: CardProps) => {
  const { data: count } = useQuery(changesTodayQuery(organization, useMidnight()));
  if (count === undefined) return null;
  return (
    <Text size="sm">
      {count === 0
        ? 'No workspace has changed today.'
        : count === 1
          ? '1 workspace has changed today.'
          : `${count.toLocaleString()} workspaces have changed today.`}
    </Text>
  );
};

export const LastChangesCard = ({ organization }: CardProps) => {
  const query = useQuery(lastChangesQuery(organization));
  return (
    <Card
      title="Changed last"
      actions={
        <TextLink to="/$organization/workspaces" params={{ organization }}>
          All workspaces
        </TextLink>
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={4} height={16} />}>
        {({ rows }) => (
          <>
            <ChangesToday organization={organization} />
            <ul className={classes['rows']}>
              {rows.map(({ id, name, changedAt }) => (
                <Row key={id} time={changedAt}>
                  <WorkspaceLink organization={organization} name={name} />
                </Row>
              ))}
            </ul>
          </>
        )}
      </QueryState>
    </Card>
  );
};

export const LocksCard = ({ organization }: CardProps) => {
  const query = useQuery(locksQuery(organization));
  return (
    <Card
      title="Locks, the oldest first"
      actions={
        <TextLink to="/$organization/workspaces" params={{ organization }} search={{ locked: 'true' }}>
          All locked workspaces
        </TextLink>
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={3} height={16} />}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Nothing>No workspace that you may read is locked.</Nothing>
          ) : (
            <>
              <ul className={classes['rows']}>
                {rows.map(({ id, workspace, holder, since, reason }) => (
                  <Row key={id} time={since}>
                    <WorkspaceLink organization={organization} name={workspace} />
                    <div className={classes['note']}>
                      <LongText text={reason === '' ? holder : `${holder}: ${reason}`} />
                    </div>
                  </Row>
                ))}
              </ul>
              <More count={rows.length} total={total} what="lock" />
            </>
          )
        }
      </QueryState>
    </Card>
  );
};

export const WaitingRunsCard = ({ organization }: CardProps) => {
  const query = useQuery(waitingRunsQuery(organization));
  return (
    <Card
      title="Runs that wait for you"
      actions={
        <TextLink to="/$organization/runs" params={{ organization }} search={{ waits: 'others' }}>
          Runs that wait for others
        </TextLink>
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={3} height={16} />}>
        {(runs) =>
          runs.length === 0 ? (
            <Nothing>No run waits for your confirmation.</Nothing>
          ) : (
            <ul className={classes['rows']}>
              {runs.map(({ id, workspace, status, hasChanges, message, since }) => (
                <Row key={id} time={since}>
                  <Link
                    to="/$organization/workspaces/$workspace/runs/$run"
                    params={{ organization, workspace, run: id }}
                    className={classes['name']}
                  >
                    {workspace}
                  </Link>{' '}
                  <RunStatusBadge run={{ status, hasChanges }} />
                  <div className={classes['note']}>
                    <LongText text={message} />
                  </div>
                </Row>
              ))}
            </ul>
          )
        }
      </QueryState>
    </Card>
  );
};
