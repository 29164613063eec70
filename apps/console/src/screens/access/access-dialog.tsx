import { Alert, Group, Input, Select, Stack, Text } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { PROJECT_LEVELS, useChangeAccess, WORKSPACE_LEVELS, type AccessMatrixRow } from '../../api/access.js';
import type { Team } from '../../api/teams.js';
import { ChangedNotice } from '../../components/changed-notice.js';
import { Dialog } from '../../components/dialog.js';
import { PendingButton } from '../../components/pending-button.js';
import { FormProblems } from '../../components/problems.js';
import { TextLink } from '../../components/text-link.js';
import { showToast } from '../../toasts.js';
import type { AccessSource } from './access-sources.js';

const NONE = 'none';
const CUSTOM = 'custom';
const NOT_PERMITTED = {
  workspace: 'You need a team with admin access to this workspace to change this.',
  project: 'You need a team with admin access to this project to change this.',
} as const;

type AccessFormProps = {
  readonly organization: string;
  readonly row: AccessMatrixRow;
  readonly team: Team;
  readonly on: 'workspace' | 'project';
  readonly source: AccessSource | undefined;
  readonly onDone: () => void;
};

const getLevels = (on: 'workspace' | 'project', present: string) => [
  { value: NONE, label: 'No access' },
  ...(on === 'workspace' ? WORKSPACE_LEVELS : PROJECT_LEVELS).map((level) => ({
    value: level as string,
    label: level as string,
  })),
  // Only the API and the provider can define custom access.
  ...(present === CUSTOM ? [{ value: CUSTOM, label: 'custom' }] : []),
];

type FixedAccessProps = { readonly on: 'workspace' | 'project'; readonly name: string; readonly level: string };

const FixedAccess = ({ on, name, level }: FixedAccessProps) => (
  <Input.Wrapper label={`Access to the ${on} ${name}`}>
    <Text>{level === NONE ? 'No access' : level}</Text>
    <Text size="sm" c="dimmed">
      {NOT_PERMITTED[on]}
    </Text>
  </Input.Wrapper>
);

/** The resource of the access, and whether the person may change who has access to it. */
const describeTarget = ({ id, attributes, relationships }: AccessMatrixRow, on: 'workspace' | 'project') =>
  on === 'project'
    ? {
        id: relationships.project.data.id,
        name: attributes['project-name'],
        canChange: attributes.permissions['can-manage-project-access'],
        description: 'It applies to every workspace of the project.',
      }
    : {
        id,
        name: attributes.name,
        canChange: attributes.permissions['can-manage-workspace-access'],
        description: undefined,
      };

type OutdatedAccessProps = { readonly opened: string; readonly present: string; readonly onReset: () => void };

const OutdatedAccess = ({ opened, present, onReset }: OutdatedAccessProps) =>
  opened !== present && (
    <ChangedNotice what="access" onReset={onReset}>
      It is now {present === NONE ? 'no access' : present}.
    </ChangedNotice>
  );

const AccessForm = ({ organization, row, team, on, source, onDone }: AccessFormProps) => {
  const present = source?.level ?? NONE;
  const [opened, setOpened] = useState(present);
  const [chosen, setChosen] = useState<string | null>(null);
  const level = chosen ?? present;
  const { id, name, canChange, description } = describeTarget(row, on);
  const change = useChangeAccess(organization, { on, id, team: team.id });
  const removes = level === NONE && present !== NONE;
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = (existing: string | null) => {
      const restore = () => change.mutate({ existing, level: present === NONE ? null : present });
      showToast({
        kind: 'success',
        message: `The access of ${team.attributes.name} to ${name} is changed.`,
        // The rights of custom access are not on this screen.
        undo: present === CUSTOM ? undefined : restore,
      });
      onDone();
    };
    change.mutate({ existing: source?.id ?? null, level: removes ? null : level }, { onSuccess });
  };
  const reset = () => {
    setChosen(null);
    setOpened(present);
  };
  if (!canChange) return <FixedAccess on={on} name={name} level={present} />;
  return (
    <form onSubmit={save}>
      <Stack gap="xs">
        <FormProblems error={change.error} />
        {!change.isPending && !change.isSuccess && <OutdatedAccess opened={opened} present={present} onReset={reset} />}
        <Group align="flex-end" gap="sm">
          <Select
            label={`Access to the ${on} ${name}`}
            description={description}
            flex={1}
            miw={0}
            allowDeselect={false}
            data={getLevels(on, present)}
            value={level}
            onChange={setChosen}
            comboboxProps={{ withinPortal: false }}
          />
          {level !== present && (
            <PendingButton type="submit" {...(removes ? { color: 'red' } : {})} isPending={change.isPending}>
              {removes ? 'Remove access' : 'Save'}
            </PendingButton>
          )}
        </Group>
        {removes && (
          <Alert color="red" variant="light">
            The members of {team.attributes.name} lose {present} access to {name}. Access from elsewhere stays.
          </Alert>
        )}
      </Stack>
    </form>
  );
};

type AccessDialogProps = {
  readonly organization: string;
  readonly row: AccessMatrixRow;
  readonly team: Team;
  readonly sources: readonly AccessSource[];
  readonly onClose: () => void;
};

/** Shows where the access of a team comes from, and changes it. */
export const AccessDialog = ({ organization, row, team, sources, onClose }: AccessDialogProps) => {
  const { kind, name } = row.attributes;
  const isWorkspace = kind === 'workspaces';
  const inOrganization = sources.filter(({ from }) => from === 'organization');
  const why = {
    team: team.id,
    permission: isWorkspace ? ('read-workspace' as const) : ('read-project' as const),
    [isWorkspace ? 'workspace' : 'project']: row.id,
  };
  const form = { organization, row, team, onDone: onClose };
  return (
    <Dialog onClose={onClose} title={`${team.attributes.name}: access to ${name}`}>
      <Stack>
        {isWorkspace && (
          <AccessForm {...form} on="workspace" source={sources.find(({ from }) => from === 'workspace')} />
        )}
        <AccessForm {...form} on="project" source={sources.find(({ from }) => from === 'project')} />
        <Text size="sm">
          {inOrganization.length === 0
            ? 'The team has no access of this kind in the whole organization.'
            : `In the whole organization: ${inOrganization.map(({ level }) => level).join(', ')}. This access applies here too.`}
        </Text>
        <TextLink to="/$organization/teams/why" params={{ organization }} search={why}>
          Why can this team do something here?
        </TextLink>
      </Stack>
    </Dialog>
  );
};
