import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { accountQuery } from '../api/account.js';
import { setExactTimes, useExactTimes } from '../components/exact-times.js';
import {
  ClockIcon,
  KeyboardIcon,
  KeyIcon,
  OrganizationIcon,
  RunIcon,
  SignOutIcon,
  SiteIcon,
  UserIcon,
  WorkspaceIcon,
} from '../components/icons.js';
import { COLOR_SCHEMES } from '../layout/color-schemes.js';
import { useOpenDialog } from '../layout/dialogs.js';
import { getScreenPath, useNavigation } from '../navigation.js';
import { signOut } from '../api/sign-out.js';
import { WORKSPACE_TABS } from '../screens/workspace/tabs.js';
import type { Command } from '../components/command.js';
import { useCreateCommands, useSettingsCommands } from './create-commands.js';
import { useLeadingResources, useOtherResources } from './resource-commands.js';
import { useScreenCommands } from '../components/screen-commands.js';

const SEARCH_DELAY_MS = 150;

const useNavigationCommands = (organization: string | null): readonly Command[] => {
  const navigate = useNavigate();
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
      ? [
          { group: 'Screens', label: 'Site', icon: SiteIcon, run: () => void navigate({ to: '/~site' }) },
          {
            group: 'Screens',
            label: 'Users of the site',
            icon: SiteIcon,
            run: () => void navigate({ to: '/~site/users' }),
          },
        ]
      : []),
    { group: 'Screens', label: 'Your account', icon: UserIcon, run: () => void navigate({ to: '/~account' }) },
    { group: 'Screens', label: 'Your tokens', icon: KeyIcon, run: () => void navigate({ to: '/~account/tokens' }) },
  ];
};

/** The tabs of the open workspace. The name of the workspace is no match: it would find all of them. */
const useTabCommands = (): readonly Command[] => {
  const navigate = useNavigate();
  const { organization, workspace } = useParams({ strict: false });
  if (organization === undefined || workspace === undefined) return [];
  return WORKSPACE_TABS.map(({ label, path }) => ({
    group: `Workspace ${workspace}`,
    label: `${label} of ${workspace}`,
    searched: label,
    icon: WorkspaceIcon,
    run: () => void navigate({ to: `/${organization}/workspaces/${workspace}${path === '' ? '' : `/${path}`}` }),
  }));
};

const useGeneralCommands = (): readonly Command[] => {
  const { setColorScheme } = useMantineColorScheme();
  const openDialog = useOpenDialog();
  const isExact = useExactTimes();
  return [
    ...COLOR_SCHEMES.map(({ value, label, icon }) => ({
      group: 'Colors',
      label: `Colors: ${label}`,
      icon,
      run: () => setColorScheme(value),
    })),
    { group: 'Console', label: 'Keyboard shortcuts', icon: KeyboardIcon, run: () => openDialog('shortcuts') },
    {
      group: 'Console',
      label: isExact ? 'Relative times' : 'Exact times',
      icon: ClockIcon,
      run: () => setExactTimes(!isExact),
    },
    { group: 'Console', label: 'Sign out', icon: SignOutIcon, run: signOut },
  ];
};

const useLocalCommands = (organization: string | null): readonly Command[] => {
  const ofScreen = useScreenCommands().map((command) => ({ ...command, group: 'This screen', icon: RunIcon }));
  const present = ofScreen.map(({ label }) => label);
  return [
    ...useNavigationCommands(organization),
    ...useTabCommands(),
    ...ofScreen,
    ...useCreateCommands(organization, present),
    ...useSettingsCommands(organization),
    ...useGeneralCommands(),
  ];
};

/** Returns the commands that match, by their group, in the order of the list. */
export const useCommands = (organization: string | null, query: string): ReadonlyMap<string, readonly Command[]> => {
  const text = query.trim();
  const [debounced] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const commands = useLocalCommands(organization).filter(({ label, searched = label }) =>
    searched.toLowerCase().includes(text.toLowerCase()),
  );
  const leading = useLeadingResources(organization, debounced);
  const others = useOtherResources(organization, debounced);
  // Results of an earlier text would come before the command that matches this one.
  const [first, last] = debounced === text ? [leading, others] : [[], []];
  // Without a text, the screens come first: they are what a short visit needs.
  return Map.groupBy(text === '' ? [...commands, ...first] : [...first, ...commands, ...last], ({ group }) => group);
};
