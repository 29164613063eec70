import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssess, type AssessmentResult } from '../../api/assessment-results.js';
import { findIncluded } from '../../api/included.js';
import { organizationQuery } from '../../api/organizations.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { HealthBadges } from '../../components/health-badges.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PendingButton } from '../../components/pending-button.js';
import { FormProblems } from '../../components/problems.js';
import { LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';

const DriftTree = lazyComponent(() => import('../run/plan-tree.js'), 'DriftTree', <LoadingLines />);

type HealthCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** Returns the number of checks by their results, without the results that no check has. */
const describeChecks = ({ attributes }: AssessmentResult): string =>
  (
    [
      ['checks-passed', 'passed'],
      ['checks-failed', 'failed'],
      ['checks-errored', 'could not be evaluated'],
      ['checks-unknown', 'unknown'],
    ] as const
  )
    .filter(([name]) => attributes[name] > 0)
    .map(([name, words]) => `${attributes[name].toLocaleString()} ${words}`)
    .join(', ');

const listFacts = (result: AssessmentResult): readonly LabeledFact[] => {
  const { attributes } = result;
  const { succeeded, 'error-message': reason, 'drifted-since': since, 'resources-drifted': drifted } = attributes;
  const checks = describeChecks(result);
  const total = drifted + attributes['resources-undrifted'];
  return [
    { label: 'Result', value: <HealthBadges attributes={attributes} /> },
    { label: 'Assessed', value: <Time value={attributes['created-at']} /> },
    ...(reason === null ? [] : [{ label: 'Reason', value: <LongText text={reason} /> }]),
    ...(succeeded
      ? [{ label: 'Resources', value: `${drifted.toLocaleString()} of ${total.toLocaleString()} drifted` }]
      : []),
    ...(since === null ? [] : [{ label: 'Drifted since', value: <Time value={since} /> }]),
    ...(checks === '' ? [] : [{ label: 'Checks', value: checks }]),
  ];
};

/** The document of a plan can be large, so it is read only for people who want to see it. */
const DriftedResources = ({ organization, run }: { readonly organization: string; readonly run: string }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Group>
        <Button variant="default" size="compact-sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the drifted resources' : 'Show the drifted resources'}
        </Button>
      </Group>
      {isOpen && <DriftTree organization={organization} run={run} />}
    </>
  );
};

const Result = ({ organization, workspace, result }: HealthCardProps & { readonly result: AssessmentResult }) => {
  const { id: run } = result.relationships.run.data;
  return (
    <>
      <FactList facts={listFacts(result)} />
      {result.attributes.drifted && <DriftedResources key={run} organization={organization} run={run} />}
      <TextLink
        to="/$organization/workspaces/$workspace/runs/$run"
        params={{ organization, workspace: workspace.data.attributes.name, run }}
      >
        Plan and log of the assessment
      </TextLink>
    </>
  );
};

/** For administrators of the workspace. It leads to the run, whose log says how far it is. */
const AssessNow = ({ organization, workspace: { data } }: HealthCardProps) => {
  const assess = useAssess(organization, data.id);
  const navigate = useNavigate();
  const workspace = data.attributes.name;
  const open = ({ id: run }: { readonly id: string }) =>
    void navigate({
      to: '/$organization/workspaces/$workspace/runs/$run',
      params: { organization, workspace, run },
    });
  return (
    <>
      <Group>
        <PendingButton
          variant="default"
          size="compact-sm"
          isPending={assess.isPending}
          onClick={() => assess.mutate(undefined, { onSuccess: open })}
        >
          Assess now
        </PendingButton>
      </Group>
      <FormProblems error={assess.error} />
    </>
  );
};

const NOT_ASSESSED =
  'Not assessed yet. The first assessment begins within a day, if the latest run ended well and the workspace is neither locked nor in the execution mode local.';

/** What the newest health assessment of the workspace found. Only for people who may read it. */
export const HealthCard = ({ organization, workspace }: HealthCardProps) => {
  const { data: owner } = useQuery(organizationQuery(organization));
  const { attributes, relationships } = workspace.data;
  const isEnabled = attributes['assessments-enabled'];
  // The edition `self-hosted` has no assessments.
  if (!attributes.permissions['can-read-assessment-results'] || isEnabled === undefined || !owner) return null;
  const isOn = isEnabled || owner.attributes['assessments-enforced'] === true;
  const result = findIncluded(workspace, relationships['current-assessment-result'].data);
  const settings = (
    <TextLink
      to="/$organization/workspaces/$workspace/settings"
      params={{ organization, workspace: attributes.name }}
      aria-label="Settings of health assessments"
    >
      Settings
    </TextLink>
  );
  return (
    <Card title="Health" actions={settings}>
      {isOn && result ? (
        <Result organization={organization} workspace={workspace} result={result} />
      ) : (
        <Text size="sm" c="dimmed">
          {isOn ? NOT_ASSESSED : 'Health assessments are off. They find resources that have drifted from the state.'}
        </Text>
      )}
      {isOn && attributes.permissions['can-manage-assessments'] && (
        <AssessNow organization={organization} workspace={workspace} />
      )}
    </Card>
  );
};
