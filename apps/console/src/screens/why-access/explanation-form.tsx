import { Input, SegmentedControl, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExplanationSearch } from '../../api/access.js';
import { accountQuery } from '../../api/account.js';
import { memberSuggestionsQuery } from '../../api/memberships.js';
import { teamQuery, teamSuggestionsQuery } from '../../api/teams.js';
import { workspaceByIdQuery, workspaceSuggestionsQuery } from '../../api/workspaces.js';
import { ProjectSelect } from '../../components/project-select.js';
import { SearchSelect, toOption, useSuggestionText } from '../../components/search-select.js';
import { formatName } from '../../components/words.js';
import { getResourceKind, PERMISSIONS } from './permissions.js';
import { parseExplanationRequest } from './why.search.js';

type FormProps = {
  readonly organization: string;
  readonly search: ExplanationSearch;
  readonly onChange: (search: ExplanationSearch) => void;
};

const PersonField = ({ organization, search, onChange }: FormProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: members = [] } = useQuery(memberSuggestionsQuery(organization, searched));
  const { data: account } = useQuery(accountQuery);
  const self = account ? { value: account.id, label: `${account.attributes.username} (you)` } : undefined;
  const options = members.map(({ user, name }) => ({ value: user, label: name }));
  return (
    <SearchSelect
      label="Person"
      placeholder="Choose a person"
      value={search.user ?? null}
      options={options.filter(({ value }) => value !== self?.value)}
      chosen={self}
      onSearch={onSearch}
      onChange={(user) => onChange(parseExplanationRequest({ ...search, team: undefined, user }))}
    />
  );
};

const TeamField = ({ organization, search, onChange }: FormProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: teams = [] } = useQuery(teamSuggestionsQuery(organization, searched));
  const { team } = search;
  const { data: chosen } = useQuery({ ...teamQuery(organization, team ?? ''), enabled: team !== undefined });
  return (
    <SearchSelect
      label="Team"
      placeholder="Choose a team"
      value={team ?? null}
      options={teams.map(toOption)}
      chosen={chosen && toOption(chosen)}
      onSearch={onSearch}
      onChange={(next) => onChange(parseExplanationRequest({ ...search, user: undefined, team: next }))}
    />
  );
};

const WorkspaceField = ({ organization, search, onChange }: FormProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data: workspaces = [] } = useQuery(workspaceSuggestionsQuery(organization, searched));
  const { workspace } = search;
  const { data: chosen } = useQuery({
    ...workspaceByIdQuery(organization, workspace ?? ''),
    enabled: workspace !== undefined,
  });
  return (
    <SearchSelect
      label="Workspace"
      placeholder="Every workspace"
      value={workspace ?? null}
      options={workspaces.map(toOption)}
      chosen={chosen && toOption(chosen)}
      onSearch={onSearch}
      onChange={(next) => onChange(parseExplanationRequest({ ...search, workspace: next }))}
    />
  );
};

const ProjectField = ({ organization, search, onChange }: FormProps) => (
  <ProjectSelect
    organization={organization}
    label="Project"
    placeholder="Every project"
    value={search.project ?? null}
    onChange={(project) => onChange(parseExplanationRequest({ ...search, project }))}
  />
);

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
            items: items.map((value) => ({ value, label: formatName(value) })),
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
