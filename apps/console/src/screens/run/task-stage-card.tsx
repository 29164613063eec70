import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ApiResource } from '#packages/client';
import { taskStagesQuery, type TaskResult } from '../../api/task-stages.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { LongText } from '../../components/long-text.js';
import { QueryState } from '../../components/states.js';
import { formatName } from '../../components/words.js';
import { usePollInterval } from '../../live/live-state.js';
import classes from './run.module.css';
import { TaskOutcomes } from './task-outcomes.js';

const POLL_MS = 5_000;

type Status = TaskResult['attributes']['status'] | ApiResource<'TaskStage'>['attributes']['status'];
type Stage = TaskResult['attributes']['stage'];

const TITLES: Readonly<Record<Stage, string>> = {
  pre_plan: 'Run tasks before the plan',
  post_plan: 'Run tasks after the plan',
  pre_apply: 'Run tasks before the apply',
  post_apply: 'Run tasks after the apply',
};

const STATUSES: Readonly<Partial<Record<Status, string>>> = {
  pending: 'Not started',
  errored: 'No result',
  unreachable: 'Not reached',
};

const COLORS: Readonly<Partial<Record<Status, string>>> = {
  running: 'blue',
  passed: 'green',
  failed: 'red',
  errored: 'red',
  unreachable: 'red',
};

const OPEN: readonly Status[] = ['pending', 'running', 'awaiting_override'];

const formatStatus = (status: Status): string => STATUSES[status] ?? formatName(status);

type RunProps = { readonly organization: string; readonly run: string };
type ResultProps = RunProps & { readonly result: TaskResult };

/** The outcomes are read when a person opens them. */
const Outcomes = ({ result, ...run }: ResultProps): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const count = result.relationships['task-result-outcomes'].data.length;
  return (
    count > 0 && (
      <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
        <summary className={classes['log']}>
          {formatCount(count, 'outcome', 'outcomes')} of {result.attributes['task-name']}
        </summary>
        {isOpen && <TaskOutcomes {...run} result={result.id} />}
      </details>
    )
  );
};

const Result = (props: ResultProps) => {
  const { status, message, url, ...task } = props.result.attributes;
  return (
    <li>
      <Group gap="xs">
        <Text size="sm" component="strong" fw={600} className={classes['task']}>
          {task['task-name']}
        </Text>
        <Badge color={COLORS[status] ?? 'gray'} fw={600} miw="max-content" px={6} lts={0}>
          {formatStatus(status)}
        </Badge>
        <Text size="sm" c="dimmed">
          {formatName(task['workspace-task-enforcement-level'])}
        </Text>
        {url !== '' && (
          <Anchor size="sm" className={classes['report']} href={url} target="_blank" rel="noopener noreferrer">
            Report of {task['task-name']}
          </Anchor>
        )}
      </Group>
      {message !== '' && (
        <Text size="sm" component="div" className={classes['task']}>
          <LongText text={message} />
        </Text>
      )}
      <Outcomes {...props} />
    </li>
  );
};

/** One stage of the run, with the results of its tasks. Nothing if the run has no tasks in the stage. */
export const TaskStageCard = ({ stage, ...run }: RunProps & { readonly stage: Stage }) => {
  const interval = usePollInterval(POLL_MS);
  const query = useQuery({
    ...taskStagesQuery(run.organization, run.run),
    refetchInterval: ({ state: { data } }) =>
      data?.data.every(({ attributes }) => !OPEN.includes(attributes.status)) ? false : interval,
  });
  return (
    <QueryState query={query} what="run" loading={null}>
      {({ data, included = [] }) => {
        const current = data.find(({ attributes }) => attributes.stage === stage);
        if (!current) return null;
        const results = included.flatMap((one) =>
          one.type === 'task-results' && one.relationships['task-stage'].data.id === current.id ? [one] : [],
        );
        // The stage exists only for policies.
        if (results.length === 0) return null;
        return (
          <Card
            title={TITLES[stage]}
            actions={
              <Text size="sm" c="dimmed" role="status">
                {formatStatus(current.attributes.status)}
              </Text>
            }
          >
            <Stack component="ul" gap="sm" className={classes['tasks']}>
              {results.map((result) => (
                <Result key={result.id} {...run} result={result} />
              ))}
            </Stack>
          </Card>
        );
      }}
    </QueryState>
  );
};
