import '@mantine/spotlight/styles.layer.css';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ComponentType } from 'react';
import { organizationsQuery } from '../api/organizations.js';
import { workspaceSuggestionsQuery } from '../api/workspaces.js';
import { OrganizationIcon, SearchIcon, UserIcon, WorkspaceIcon, type IconProps } from '../components/icons.js';
import { COLOR_SCHEMES } from '../layout/color-schemes.js';
import { getOrganizationPath, NAVIGATION } from '../layout/navigation.js';
import classes from './command-palette.module.css';

const SEARCH_DELAY_MS = 150;
const MAX_ORGANIZATIONS = 6;

type Command = {
  readonly group: string;
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
  readonly run: () => void;
};

const useScreenCommands = (organization: string | null): readonly Command[] => {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const screens = NAVIGATION.map(({ label, path, icon }) => ({
    group: 'Screens',
    label,
    icon,
    run: () => void navigate({ to: `/${organization ?? ''}/${path}` }),
  }));
  return [
    ...(organization === null ? [] : screens),
    { group: 'Screens', label: 'Organizations', icon: OrganizationIcon, run: () => void navigate({ to: '/' }) },
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

const useCommands = (organization: string | null, query: string): ReadonlyMap<string, readonly Command[]> => {
  const text = query.trim();
  const [searched] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const commands = useScreenCommands(organization).filter(({ label }) =>
    label.toLowerCase().includes(text.toLowerCase()),
  );
  const results = useSearchResults(organization, searched);
  // Without a text, the screens come first: they are what a short visit needs.
  return Map.groupBy(text === '' ? [...commands, ...results] : [...results, ...commands], ({ group }) => group);
};

const [store, palette] = createSpotlight();

type CommandPaletteProps = { readonly organization: string | null; readonly onClose: () => void };

/** Searches workspaces, organizations and screens, and runs commands. */
export const CommandPalette = ({ organization, onClose }: CommandPaletteProps) => {
  const [query, setQuery] = useState('');
  const groups = useCommands(organization, query);
  useEffect(() => palette.open(), []);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      shortcut={null}
      overlayProps={{ backgroundOpacity: 0.35, blur: 0 }}
      transitionProps={{ duration: 0 }}
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        placeholder={organization === null ? 'Search organizations and commands' : `Search in ${organization}`}
        aria-label="Search and commands"
        leftSection={<SearchIcon />}
        className={classes['search']}
      />
      <Spotlight.ActionsList>
        {[...groups].map(([group, commands]) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {commands.map(({ label, icon: Icon, run }) => (
              <Spotlight.Action key={label} label={label} leftSection={<Icon />} onClick={run} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.size === 0 && <Spotlight.Empty>Nothing matches</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
};
