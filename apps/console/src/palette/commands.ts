import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { accountQuery } from '../api/account.js';
import { organizationsQuery } from '../api/organizations.js';
import { workspaceSuggestionsQuery } from '../api/workspaces.js';
import { OrganizationIcon, SiteIcon, UserIcon, WorkspaceIcon, type IconProps } from '../components/icons.js';
import { COLOR_SCHEMES } from '../layout/color-schemes.js';
import { getOrganizationPath, getScreenPath, useNavigation } from '../layout/navigation.js';

const SEARCH_DELAY_MS = 150;
const MAX_ORGANIZATIONS = 6;

/** An entry of the palette. Commands with the same group stand together. */
export type Command = {
  readonly group: string;
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
  readonly run: () => void;
};

const useScreenCommands = (organization: string | null): readonly Command[] => {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const { data: account } = useQuery(accountQuery);
  const screens = useNavigation(organization).map((entry) => ({
    group: 'Screens',
    label: entry.label,
    icon: entry.icon,
    run: () => void navigate({ to: getScreenPath(organization ?? '', entry) }),
  }));
  return [
    ...screens,
    { group: 'Screens', label: 'Organizations', icon: OrganizationIcon, run: () => void navigate({ to: '/' }) },
    ...(account?.attributes['is-site-admin']
      ? [{ group: 'Screens', label: 'Site', icon: SiteIcon, run: () => void navigate({ to: '/~site' }) }]
      : []),
    { group: 'Screens', label: 'Your account', icon: UserIcon, run: () => window.location.assign('/account') },
    ...COLOR_SCHEMES.map(({ value, label, icon }) => ({
      group: 'Colors',
      label: `Colors: ${label}`,
      icon,
      run: () => setColorScheme(value),
    })),
  ];
};

const useSearchResults = (organization: string | null, text: string): readonly Command[] => {
  const navigate = useNavigate();
  const workspaces = useQuery({
    ...workspaceSuggestionsQuery(organization ?? '', text),
    enabled: organization !== null && text !== '',
  });
  const { data: organizations } = useInfiniteQuery(organizationsQuery(text));
  const matches = (workspaces.data ?? []).map(({ attributes: { name } }) => ({
    group: `Workspaces of ${organization ?? ''}`,
    label: name,
    icon: WorkspaceIcon,
    run: () => void navigate({ to: `/${organization ?? ''}/workspaces/${name}` }),
  }));
  const names = organizations?.pages[0]?.data.slice(0, MAX_ORGANIZATIONS).map(({ id }) => id) ?? [];
  return [
    ...(text === '' ? [] : matches),
    ...names.map((name) => ({
      group: 'Organizations',
      label: name,
      icon: OrganizationIcon,
      run: () => void navigate({ to: getOrganizationPath(name) }),
    })),
  ];
};

/** Returns the commands that match, by their group, in the order of the list. */
export const useCommands = (organization: string | null, query: string): ReadonlyMap<string, readonly Command[]> => {
  const text = query.trim();
  const [searched] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const commands = useScreenCommands(organization).filter(({ label }) =>
    label.toLowerCase().includes(text.toLowerCase()),
  );
  const searchResults = useSearchResults(organization, searched);
  // Results of an earlier text would come before the command that matches this one.
  const results = searched === text ? searchResults : [];
  // Without a text, the screens come first: they are what a short visit needs.
  return Map.groupBy(text === '' ? [...commands, ...results] : [...results, ...commands], ({ group }) => group);
};
