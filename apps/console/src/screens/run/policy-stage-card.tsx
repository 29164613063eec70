import { Badge, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import {
  policySetOutcomesQuery,
  type EvaluatedPolicies,
  type EvaluatedPolicySet,
} from '../../api/policy-evaluations.js';
import { taskStagesQuery } from '../../api/task-stages.js';
import { Card } from '../../components/card.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { QueryState } from '../../components/states.js';
import { formatName } from '../../components/words.js';
import classes from './run.module.css';

const OverrideDialog = lazyComponent(() => import('./override-dialog.js'), 'OverrideDialog');

const NO_OVERRIDE = 'You need a team that may override policies, or to be an owner of the organization.';

type PolicyOutcome = EvaluatedPolicySet['attributes']['outcomes'][number];
type EvaluationStatus = EvaluatedPolicies['attributes']['status'];

const COLORS: Readonly<Record<PolicyOutcome['status'], string>> = { passed: 'green', failed: 'red', errored: 'red' };

const STATUSES: Readonly<Partial<Record<EvaluationStatus, string>>> = {
  pending: 'Not evaluated yet',
  unreachable: 'Not evaluated',
};

const Outcome = ({ outcome }: { readonly outcome: PolicyOutcome }) => {
  const printed = outcome.output.map(({ print }) => print).join('\n');
  return (
    <li className={classes['task']}>
      <Group gap="xs">
        <Text size="sm" component="strong" fw={600} className={classes['task']}>
          {outcome.policy_name}
        </Text>
        <Badge color={COLORS[outcome.status]} fw={600} miw="max-content" px={6} lts={0}>
          {formatName(outcome.status)}
        </Badge>
        <Text size="sm" c="dimmed">
          {formatName(outcome.enforcement_level)}
        </Text>
      </Group>
      {outcome.description !== '' && (
        <Text size="sm" c="dimmed">
          {outcome.description}
        </Text>
      )}
      {printed !== '' && (
        <blockquote className={classes['comment']}>
          <LongText text={printed} />
        </blockquote>
      )}
      {printed === '' && outcome.status !== 'passed' && (
        <Text size="sm" c="dimmed">
          Admins of the workspace, and people who may override policies, see the messages until they are deleted with
          the logs.
        </Text>
      )}
    </li>
  );
};

const SetOutcome = ({ set: { attributes } }: { readonly set: EvaluatedPolicySet }) => (
  <li>
    <Group gap="xs" mb={4}>
      <Text size="sm" component="strong" fw={600} className={classes['task']}>
        {attributes['policy-set-name']}
      </Text>
      <Text size="sm" c="dimmed">
        OPA {attributes['policy-tool-version']}
        {attributes.overridable ? ', overridable' : ''}
      </Text>
    </Group>
    {attributes['policy-set-description'] !== '' && (
      <Text size="sm" c="dimmed">
        {attributes['policy-set-description']}
      </Text>
    )}
    <Stack
      component="ul"
      gap="sm"
      className={classes['tasks']}
      aria-label={`Policies of ${attributes['policy-set-name']}`}
    >
      {attributes.outcomes.map((outcome) => (
        <Outcome key={outcome.policy_name} outcome={outcome} />
      ))}
    </Stack>
  </li>
);

type RunProps = { readonly organization: string; readonly run: string };
type EvaluationProps = RunProps & {
  readonly stage: ApiResource<'TaskStage'>;
  readonly evaluation: EvaluatedPolicies;
};

const Override = ({ organization, stage }: Omit<EvaluationProps, 'evaluation'>) => {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <PermittedButton
        command="Override the failed policies"
        size="compact-sm"
        color="red"
        variant="light"
        isPermitted={stage.attributes.permissions['can-override-policy']}
        reason={NO_OVERRIDE}
        onClick={dialog.open}
      >
        Override
      </PermittedButton>
      {isOpen && <OverrideDialog organization={organization} stage={stage.id} onClose={dialog.close} />}
    </>
  );
};

const Evaluation = ({ organization, run, stage, evaluation }: EvaluationProps) => {
  const { status } = evaluation.attributes;
  const query = useQuery(policySetOutcomesQuery({ organization, run, evaluation }));
  const actions = (
    <Group gap="sm">
      <Text size="sm" c="dimmed" role="status">
        {STATUSES[status] ?? formatName(status)}
      </Text>
      {stage.attributes.actions['is-overridable'] && <Override organization={organization} run={run} stage={stage} />}
    </Group>
  );
  return (
    <Card title="Policies" actions={actions}>
      <QueryState query={query} what="policies" loading={null}>
        {(sets) => (
          <Stack component="ul" gap="md" className={classes['tasks']}>
            {sets.map((set) => (
              <SetOutcome key={set.id} set={set} />
            ))}
          </Stack>
        )}
      </QueryState>
    </Card>
  );
};

/** The results of the policies of the run. Nothing if it has none. `TaskStageCard` reads the stages again while they can change. */
export const PolicyStageCard = ({ organization, run }: RunProps) => (
  <QueryState query={useQuery(taskStagesQuery(organization, run))} what="run" loading={null}>
    {({ data, included = [] }) =>
      included.flatMap((evaluation) => {
        if (evaluation.type !== 'policy-evaluations') return [];
        const stage = data.find(({ id }) => id === evaluation.relationships['policy-attachable'].data.id);
        if (!stage) return [];
        return [
          <Evaluation
            key={evaluation.id}
            organization={organization}
            run={run}
            stage={stage}
            evaluation={evaluation}
          />,
        ];
      })
    }
  </QueryState>
);
