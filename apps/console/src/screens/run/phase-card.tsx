import { Group, Text } from '@mantine/core';
import { countResources, type PhaseResource } from '../../api/runs.js';
import { Card } from '../../components/card.js';
import { formatDuration, measurePhase, type RunTimes } from '../../components/run-facts.js';
import { PlanCounts } from '../../components/run-status.js';
import { Time, useNow } from '../../components/times.js';

const STATUSES: Readonly<Record<PhaseResource['attributes']['status'], string>> = {
  pending: 'Not started',
  queued: 'Waits for an executor',
  running: 'Running',
  finished: 'Finished',
  errored: 'Failed',
  canceled: 'Canceled',
  unreachable: 'Not reached',
};

type PhaseCardProps = {
  readonly title: 'Plan' | 'Apply';
  readonly phase: PhaseResource;
  /** The times of the run. */
  readonly times: RunTimes;
};

/** One phase of a run: how far it is, how long it takes, and what it changes. */
export const PhaseCard = ({ title, phase, times }: PhaseCardProps) => {
  const { status, 'status-timestamps': own } = phase.attributes;
  const duration = measurePhase(times, title === 'Plan' ? 'plan' : 'apply', useNow());
  const counts = countResources(phase);
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
      {(counts !== null || own['started-at'] !== undefined) && (
        <Group justify="space-between" gap="sm">
          {counts ? <PlanCounts counts={counts} isDone={title === 'Apply'} /> : <span />}
          {own['started-at'] !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              Started <Time value={own['started-at']} />
            </Text>
          )}
        </Group>
      )}
    </Card>
  );
};
