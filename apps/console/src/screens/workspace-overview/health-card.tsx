import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiResource } from '#packages/client';
import { findIncluded } from '../../api/included.js';
import { organizationQuery } from '../../api/organizations.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { Card, FactList, type LabeledFact } from '../../components/card.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';

const DriftTree = lazyComponent(() => import('../run/plan-tree.js'), 'DriftTree', <LoadingLines />);

type Assessment = ApiResource<'AssessmentResult'>;

type HealthCardProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

const HealthBadges = ({ attributes }: Pick<Assessment, 'attributes'>) => {
  const { succeeded, drifted, 'all-checks-succeeded': isChecked } = attributes;
  if (!succeeded) return <Badge color="red">Could not assess</Badge>;
  return (
    <Group gap="xs">
      <Badge color={drifted ? 'orange' : 'green'}>{drifted ? 'Drifted' : 'No drift'}</Badge>
      {!isChecked && <Badge color="red">Checks failed</Badge>}
    </Group>
  );
};

/** Returns the number of checks by their results, without the results that no check has. */
const describeChecks = ({ attributes }: Assessment): string =>
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

const listFacts = (result: Assessment): readonly LabeledFact[] => {
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

const Result = ({ organization, workspace, result }: HealthCardProps & { readonly result: Assessment }) => {
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
    </Card>
  );
};
