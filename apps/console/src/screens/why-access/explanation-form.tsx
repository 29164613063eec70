import { Input, SegmentedControl, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExplanationSearch } from '../../api/access.js';
import { accountQuery } from '../../api/account.js';
import { memberSuggestionsQuery } from '../../api/memberships.js';
import { projectQuery, projectSuggestionsQuery } from '../../api/projects.js';
import { teamQuery, teamSuggestionsQuery } from '../../api/teams.js';
import { workspaceByIdQuery, workspaceSuggestionsQuery } from '../../api/workspaces.js';
import { formatPermission, getResourceKind, PERMISSIONS } from './permissions.js';
import { parseExplanationRequest } from './why.search.js';

const TYPING_MS = 200;

type FormProps = {
  readonly organization: string;
  readonly search: ExplanationSearch;
  readonly onChange: (search: ExplanationSearch) => void;
};

type Option = { readonly value: string; readonly label: string };

type SearchSelectProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly options: readonly Option[];
  /** The option of the present value, which the suggestions can lack. */
  readonly chosen: Option | undefined;
  readonly onSearch: (text: string) => void;
  readonly onChange: (value: string | undefined) => void;
};

const SearchSelect = ({ label, placeholder, value, options, chosen, onSearch, onChange }: SearchSelectProps) => {
  const all = new Map([...(chosen ? [chosen] : []), ...options].map((option) => [option.value, option]));
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Clear: ${label}` }}
      data={[...all.values()]}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      onSearchChange={onSearch}
    />
  );
};

const PersonField = ({ organization, search, onChange }: FormProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: members = [] } = useQuery(memberSuggestionsQuery(organization, searched));
  const { data: account } = useQuery(accountQuery);
  const self = account ? { value: account.id, label: `${account.attributes.username} (you)` } : undefined;
  const options = members.map(({ user, name }) => ({ value: user, label: name }));
  return (
    <SearchSelect
      label="Person"
      placeholder="Choose a person"
      value={search.user}
      options={options.filter(({ value }) => value !== self?.value)}
      chosen={self}
      onSearch={setText}
      onChange={(user) => onChange(parseExplanationRequest({ ...search, team: undefined, user }))}
    />
  );
};

const TeamField = ({ organization, search, onChange }: FormProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: teams = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const { team } = search;
  const { data: chosen } = useQuery({ ...teamQuery(organization, team ?? ''), enabled: team !== undefined });
  return (
    <SearchSelect
      label="Team"
      placeholder="Choose a team"
      value={team}
      options={teams.map(({ id, attributes }) => ({ value: id, label: attributes.name }))}
      chosen={chosen && { value: chosen.id, label: chosen.attributes.name }}
      onSearch={setText}
      onChange={(next) => onChange(parseExplanationRequest({ ...search, user: undefined, team: next }))}
    />
  );
};

const WorkspaceField = ({ organization, search, onChange }: FormProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: workspaces = [] } = useQuery(workspaceSuggestionsQuery(organization, searched));
  const { workspace } = search;
  const { data: chosen } = useQuery({
    ...workspaceByIdQuery(organization, workspace ?? ''),
    enabled: workspace !== undefined,
  });
  return (
    <SearchSelect
      label="Workspace"
      placeholder="Any workspace"
      value={workspace}
      options={workspaces.map(({ id, attributes }) => ({ value: id, label: attributes.name }))}
      chosen={chosen && { value: chosen.id, label: chosen.attributes.name }}
      onSearch={setText}
      onChange={(next) => onChange(parseExplanationRequest({ ...search, workspace: next }))}
    />
  );
};

const ProjectField = ({ organization, search, onChange }: FormProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: projects = [] } = useQuery(projectSuggestionsQuery(organization, searched));
  const { project } = search;
  const { data: chosen } = useQuery({ ...projectQuery(organization, project ?? ''), enabled: project !== undefined });
  return (
    <SearchSelect
      label="Project"
      placeholder="Any project"
      value={project}
      options={projects.map(({ id, attributes }) => ({ value: id, label: attributes.name }))}
      chosen={chosen && { value: chosen.id, label: chosen.attributes.name }}
      onSearch={setText}
      onChange={(next) => onChange(parseExplanationRequest({ ...search, project: next }))}
    />
  );
};

const ResourceField = (props: FormProps) => {
  const { permission } = props.search;
  const kind = permission === undefined ? 'organization' : getResourceKind(permission);
  if (kind === 'workspace') return <WorkspaceField {...props} />;
  if (kind === 'project') return <ProjectField {...props} />;
  return (
    <Input.Wrapper label="Resource">
      <Text size="sm" c="dimmed" mt={6}>
        {permission === undefined ? 'Choose the action first.' : 'The whole organization'}
      </Text>
    </Input.Wrapper>
  );
};

/** Chooses who, what and where. The address keeps it. */
export const ExplanationForm = (props: FormProps) => {
  const { search, onChange } = props;
  const [isTeam, setTeam] = useState(search.team !== undefined);
  return (
    <Stack gap="sm">
      <SegmentedControl
        transitionDuration={0}
        aria-label="Person or team"
        w="fit-content"
        data={[
          { value: 'user', label: 'A person' },
          { value: 'team', label: 'A team' },
        ]}
        value={isTeam ? 'team' : 'user'}
        onChange={(value) => {
          setTeam(value === 'team');
          onChange(parseExplanationRequest({ ...search, user: undefined, team: undefined }));
        }}
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {isTeam ? <TeamField {...props} /> : <PersonField {...props} />}
        <Select
          label="Action"
          placeholder="Choose an action"
          searchable
          data={PERMISSIONS.map(({ group, items }) => ({
            group,
            items: items.map((value) => ({ value, label: formatPermission(value) })),
          }))}
          value={search.permission ?? null}
          onChange={(permission) => {
            const { workspace, project, ...rest } = search;
            const next = parseExplanationRequest({ ...rest, permission });
            const kind = next.permission === undefined ? 'organization' : getResourceKind(next.permission);
            const resource = kind === 'workspace' ? { workspace } : kind === 'project' ? { project } : {};
            onChange(parseExplanationRequest({ ...next, ...resource }));
          }}
        />
        <ResourceField {...props} />
      </SimpleGrid>
    </Stack>
  );
};
