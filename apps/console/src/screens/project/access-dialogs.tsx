import { Radio, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PROJECT_LEVELS, useChangeAccess, type TeamProjectAccess } from '../../api/access.js';
import type { Project } from '../../api/projects.js';
import { teamSuggestionsQuery } from '../../api/teams.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { FormDialog } from '../../components/form-dialog.js';
import { SearchSelect, toOption, useSuggestionText } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';
import { CUSTOM, describeLevel } from './access-levels.js';

type DialogProps<A> = {
  readonly organization: string;
  readonly project: Project;
  readonly access: A;
  /** The name of the team that has the access. */
  readonly name: string;
  readonly onClose: () => void;
};

type TeamFieldProps = {
  readonly organization: string;
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
};

const TeamField = ({ organization, ...field }: TeamFieldProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: teams = [] } = useQuery(teamSuggestionsQuery(organization, searched.trim()));
  return (
    <SearchSelect
      {...field}
      label="Team"
      placeholder="Choose a team"
      required
      options={teams.map(toOption)}
      chosen={undefined}
      onSearch={onSearch}
    />
  );
};

const LevelField = (field: { readonly value: string; readonly onChange: (level: string) => void }) => (
  <Radio.Group label="Access" {...field}>
    <Stack gap="xs" mt="xs">
      {PROJECT_LEVELS.map((level) => (
        <Radio key={level} value={level} label={level} description={describeLevel(level)} />
      ))}
    </Stack>
  </Radio.Group>
);

/** Gives a team access to the project, or changes the level of its access. */
export const ProjectAccessDialog = (props: DialogProps<TeamProjectAccess | null>) => {
  const { organization, project, access, name, onClose } = props;
  const present = access?.attributes.access ?? 'read';
  const [team, setTeam] = useState(access?.relationships.team.data.id ?? null);
  const [level, setLevel] = useState<string>(present);
  const change = useChangeAccess(organization, { on: 'project', id: project.id, team: team ?? '' });
  const save = () => {
    const existing = access?.id ?? null;
    const onSuccess = (id: string | null) => {
      const restore = () => change.mutate({ existing: id, level: access === null ? null : present });
      // The request can only name a fixed level, so the permissions of custom access cannot be restored.
      const undo = present === CUSTOM ? undefined : restore;
      reportAndClose(`The access to ${project.attributes.name} is changed.`, onClose, undo).onSuccess();
    };
    change.mutate({ existing, level }, { onSuccess });
  };
  return (
    <FormDialog
      title={
        access ? `${name}: access to ${project.attributes.name}` : `Give a team access to ${project.attributes.name}`
      }
      action="Save"
      isDisabled={team === null || (access !== null && level === present)}
      form={change}
      onSubmit={save}
      onClose={onClose}
      intro={
        <Text size="sm">
          It applies to {formatCount(project.attributes['workspace-count'], 'workspace')}, and to those that the project
          gets later.
        </Text>
      }
    >
      {access === null && <TeamField organization={organization} value={team} onChange={setTeam} />}
      <LevelField value={level} onChange={setLevel} />
    </FormDialog>
  );
};

/** Takes the access of a team to the project away. */
export const RemoveAccessDialog = (props: DialogProps<TeamProjectAccess>) => {
  const { organization, project, access, name, onClose } = props;
  const { id, attributes, relationships } = access;
  const level = attributes.access;
  const target = { on: 'project' as const, id: project.id, team: relationships.team.data.id };
  const change = useChangeAccess(organization, target);
  const undo = () => change.mutate({ existing: null, level });
  const message = `${name} has no access to ${project.attributes.name} of its own any more.`;
  return (
    <ConfirmDialog
      title={`Remove the access of ${name}`}
      action="Remove"
      change={change}
      onConfirm={() =>
        change.mutate(
          { existing: id, level: null },
          reportAndClose(message, onClose, level === CUSTOM ? undefined : undo),
        )
      }
      onClose={onClose}
    >
      The members of {name} lose {level} access to {project.attributes.name} and its{' '}
      {formatCount(project.attributes['workspace-count'], 'workspace')}. Access from elsewhere stays.
    </ConfirmDialog>
  );
};
