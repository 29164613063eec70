import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { findIncluded } from '../../api/included.js';
import type { RunDocument } from '../../api/runs.js';
import { LongText } from '../../components/long-text.js';
import { formatRunSource, type RunAttributes } from '../../components/run-facts.js';
import { RunKinds } from '../../components/run-list.js';
import { hasEnded, RunStatusBadge } from '../../components/run-status.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { RunActions } from './run-actions.js';
import classes from './run.module.css';

const ENDS: Readonly<Partial<Record<RunAttributes['status'], string>>> = {
  applied: 'The plan is applied.',
  discarded: 'The plan was discarded.',
  errored: 'It failed.',
  canceled: 'It was canceled.',
  force_canceled: 'It was canceled by force.',
};

const describeEnd = (run: RunAttributes): string => {
  if (run.status !== 'planned_and_finished') return ENDS[run.status] ?? '';
  if (!run['has-changes']) return 'The plan has no changes.';
  return run['plan-only'] ? 'It plans only, so nothing is applied.' : '';
};

const describeQueue = ({ 'position-in-queue': ahead }: RunAttributes): string => {
  if (ahead === 0) return 'Waits until the workspace is unlocked.';
  return ahead === 1 ? 'Waits until the run ahead ends.' : `Waits until ${ahead.toLocaleString()} runs ahead end.`;
};

const describeWork = (run: RunAttributes): string => {
  const isApplying = run['status-timestamps']['apply-queued-at'] !== undefined;
  if (isApplying) return 'An executor applies the plan.';
  return run['auto-apply'] && !run['plan-only']
    ? 'An executor plans. The apply then starts without a confirmation.'
    : 'An executor plans.';
};

const Cancellation = ({ run }: { readonly run: RunAttributes }) => {
  const available = run['force-cancel-available-at'];
  return (
    <>
      Waits until the executor stops, which somebody requested.
      {available !== undefined && (
        <>
          {' '}
          It can be canceled by force: <Time value={available} />.
        </>
      )}
    </>
  );
};

type StepProps = { readonly organization: string; readonly workspace: string; readonly run: RunAttributes };

const Confirmation = ({ organization, workspace, run }: StepProps) => {
  if (run.permissions['can-apply']) return <>Waits for a confirmation. You can confirm or discard it.</>;
  return (
    <>
      Waits for a confirmation. Owners of the organization, and teams that may apply runs of this workspace, can confirm
      or discard it.{' '}
      <TextLink to="/$organization/teams/access" params={{ organization }} search={{ name: workspace }}>
        See which teams have access
      </TextLink>
    </>
  );
};

/** Describes the next event of the run, and the people who can act. */
const describeStep = (step: StepProps): ReactNode => {
  const { run } = step;
  if (hasEnded(run.status)) return `The run has ended. ${describeEnd(run)}`;
  if (run['canceled-at'] !== null) return <Cancellation run={run} />;
  if (run.actions['is-confirmable']) return <Confirmation {...step} />;
  if (run.status === 'pending') return describeQueue(run);
  if (run.status === 'policy_override' || run.status === 'post_plan_awaiting_decision')
    return 'Waits until somebody overrides the policies that failed, or discards the run.';
  if (/^p.*_(?:plan|apply)_running$/.test(run.status)) return 'Waits for the results of its run tasks.';
  if (run.status === 'plan_queued' || run.status === 'apply_queued')
    return run['waiting-reason'] ?? 'Waits for an executor of an agent pool.';
  return describeWork(run);
};

type NextStepProps = { readonly organization: string; readonly workspace: string; readonly document: RunDocument };

/** The run at a glance: its status, what it waits for, and the buttons of the next step. */
export const NextStep = ({ organization, workspace, document }: NextStepProps) => {
  const { attributes: run, relationships } = document.data;
  const creator = findIncluded(document, relationships['created-by'].data)?.attributes.username ?? 'somebody';
  return (
    <section className={classes['summary']} aria-label="This run">
      <Group gap="xs">
        <RunStatusBadge run={{ status: run.status, hasChanges: run['has-changes'] }} />
        <RunKinds run={run} />
        <Text size="sm" c="dimmed">
          Queued <Time value={run['created-at']} /> by {creator} ({formatRunSource(run.source)})
        </Text>
      </Group>
      {run.message && (
        <Text component="div" fw={600}>
          <LongText text={run.message} />
        </Text>
      )}
      <Text size="sm" component="div" role="status">
        {describeStep({ organization, workspace, run })}
      </Text>
      <RunActions organization={organization} workspace={workspace} document={document} />
    </section>
  );
};
