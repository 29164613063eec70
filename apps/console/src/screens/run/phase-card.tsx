import { Anchor, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { countResources, type PhaseResource } from '../../api/runs.js';
import { Card } from '../../components/card.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { formatDuration, measurePhase, type RunTimes } from '../../components/run-facts.js';
import { PlanCounts } from '../../components/run-status.js';
import { LoadingLines } from '../../components/states.js';
import { Time, useNow } from '../../components/times.js';
import classes from './run.module.css';

const RunLog = lazyComponent(() => import('./run-log.js'), 'RunLog', <LoadingLines />);
const PlanTree = lazyComponent(() => import('./plan-tree.js'), 'PlanTree', <LoadingLines />);

type PhaseStatus = PhaseResource['attributes']['status'];

const STATUSES: Readonly<Record<PhaseStatus, string>> = {
  pending: 'Not started',
  queued: 'Waits for an executor',
  running: 'Running',
  finished: 'Finished',
  errored: 'Failed',
  canceled: 'Canceled',
  unreachable: 'Not reached',
};

const UNFINISHED: readonly PhaseStatus[] = ['pending', 'queued', 'running'];

type PhaseCardProps = {
  readonly organization: string;
  readonly run: string;
  readonly title: 'Plan' | 'Apply';
  readonly phase: PhaseResource;
  /** The times of the run. */
  readonly times: RunTimes;
};

/** The log is open while people wait for it, or look for a reason. The changes of a finished plan say more than its log. */
const Log = ({ title, phase }: Pick<PhaseCardProps, 'title' | 'phase'>) => {
  const { status, 'log-read-url': address } = phase.attributes;
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? (title === 'Apply' || status !== 'finished');
  const name = title.toLowerCase();
  return (
    <details open={isOpen} onToggle={({ currentTarget: { open } }) => open !== isOpen && setChosen(open)}>
      <summary className={classes['log']}>Log</summary>
      {isOpen && (
        <RunLog
          label={`Log of the ${name}`}
          address={address}
          hasEnded={!UNFINISHED.includes(status)}
          file={`${phase.id}.log`}
        />
      )}
    </details>
  );
};

const ErroredState = ({ phase }: Pick<PhaseCardProps, 'phase'>) => {
  const href = 'errored-state' in phase.links ? phase.links['errored-state'] : undefined;
  return (
    href && (
      <Text size="sm">
        The workspace did not accept the last state of this apply.{' '}
        <Anchor href={href} download inherit>
          Download the state
        </Anchor>
      </Text>
    )
  );
};

/** One phase of a run: how far it is, who executes it, its log, and what it changes. */
export const PhaseCard = ({ organization, run, title, phase, times }: PhaseCardProps) => {
  const { status, 'status-timestamps': own, 'execution-details': execution } = phase.attributes;
  const duration = measurePhase(times, title === 'Plan' ? 'plan' : 'apply', useNow());
  const counts = countResources(phase);
  const started = own['started-at'];
  return (
    <Card
      title={title}
      actions={
        <Text size="sm" c="dimmed">
          {STATUSES[status]}
          {duration !== null && `, ${formatDuration(duration)}`}
        </Text>
      }
    >
      {(counts !== null || started !== undefined) && (
        <Group justify="space-between" gap="sm">
          {counts ? <PlanCounts counts={counts} isDone={title === 'Apply'} /> : <span />}
          {started !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              Started <Time value={started} />
              {execution['agent-name'] && ` by ${execution['agent-name']}`}
            </Text>
          )}
        </Group>
      )}
      {title === 'Plan' && status === 'finished' && <PlanTree organization={organization} run={run} />}
      {/* A plan that is queued again begins a new log. */}
      {started !== undefined && <Log key={started} title={title} phase={phase} />}
      <ErroredState phase={phase} />
    </Card>
  );
};
