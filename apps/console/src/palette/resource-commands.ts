import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { organizationsQuery } from '../api/organizations.js';
import { projectSuggestionsQuery } from '../api/projects.js';
import { providerSuggestionsQuery } from '../api/registry.js';
import { teamSuggestionsQuery } from '../api/teams.js';
import { workspaceSuggestionsQuery } from '../api/workspaces.js';
import { OrganizationIcon, RegistryIcon, TeamIcon, UserIcon, WorkspaceIcon } from '../components/icons.js';
import { getOrganizationPath } from '../navigation.js';
import type { Command } from '../components/command.js';

const MAX_ORGANIZATIONS = 6;
/** The limit for each of teams, projects and providers. */
const MAX_OTHERS = 4;

const useWorkspaceCommands = (organization: string | null, text: string): readonly Command[] => {
  const navigate = useNavigate();
  const isSearched = organization !== null && text !== '';
  const { data = [] } = useQuery({ ...workspaceSuggestionsQuery(organization ?? '', text), enabled: isSearched });
  if (!isSearched) return [];
  return data.map(({ attributes: { name } }) => ({
    group: `Workspaces of ${organization}`,
    label: name,
    icon: WorkspaceIcon,
    run: () => void navigate({ to: `/${organization}/workspaces/${name}` }),
  }));
};

const useOrganizationCommands = (text: string): readonly Command[] => {
  const navigate = useNavigate();
  const { data } = useInfiniteQuery(organizationsQuery(text));
  const names = data?.pages[0]?.data.slice(0, MAX_ORGANIZATIONS).map(({ id }) => id) ?? [];
  return names.map((name) => ({
    group: 'Organizations',
    label: name,
    icon: OrganizationIcon,
    run: () => void navigate({ to: getOrganizationPath(name) }),
  }));
};

const useTeamCommands = (organization: string, text: string): readonly Command[] => {
  const navigate = useNavigate();
  const { data = [] } = useQuery({ ...teamSuggestionsQuery(organization, text), enabled: text !== '' });
  return data.slice(0, MAX_OTHERS).map(({ id, attributes }) => ({
    group: 'Teams',
    label: attributes.name,
    icon: TeamIcon,
    run: () => void navigate({ to: '/$organization/teams/$team', params: { organization, team: id } }),
  }));
};

const useProjectCommands = (organization: string, text: string): readonly Command[] => {
  const navigate = useNavigate();
  const { data = [] } = useQuery({ ...projectSuggestionsQuery(organization, text), enabled: text !== '' });
  return data.slice(0, MAX_OTHERS).map(({ id, attributes }) => ({
    group: 'Projects',
    label: `Project ${attributes.name}`,
    icon: WorkspaceIcon,
    run: () => void navigate({ to: '/$organization/projects/$project', params: { organization, project: id } }),
  }));
};

const useProviderCommands = (organization: string, text: string): readonly Command[] => {
  const navigate = useNavigate();
  const { data = [] } = useQuery({ ...providerSuggestionsQuery(organization, text), enabled: text !== '' });
  return data.slice(0, MAX_OTHERS).map(({ attributes: { name } }) => ({
    group: 'Providers',
    label: name,
    icon: RegistryIcon,
    run: () => void navigate({ to: '/$organization/registry/$provider', params: { organization, provider: name } }),
  }));
};

/** The server records each read of members in the audit trail, so the list of people searches after the person chooses it. */
const usePeopleCommands = (organization: string, text: string): readonly Command[] => {
  const navigate = useNavigate();
  return [
    {
      group: 'People',
      label: `Find people named “${text}”`,
      icon: UserIcon,
      run: () => void navigate({ to: '/$organization/people', params: { organization }, search: { name: text } }),
    },
  ];
};

/** Returns what the palette shows before the commands that match. Without a text, it has only organizations. */
export const useLeadingResources = (organization: string | null, text: string): readonly Command[] => [
  ...useWorkspaceCommands(organization, text),
  ...useOrganizationCommands(text),
];

/** Returns what the palette shows after the commands that match. */
export const useOtherResources = (organization: string | null, searched: string): readonly Command[] => {
  const text = organization === null ? '' : searched;
  const name = organization ?? '';
  const commands = [
    ...useProjectCommands(name, text),
    ...useTeamCommands(name, text),
    ...useProviderCommands(name, text),
    ...usePeopleCommands(name, text),
  ];
  return text === '' ? [] : commands;
};
