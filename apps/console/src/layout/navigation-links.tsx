import { Stack } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useShortcut } from '../shortcuts/shortcuts.js';
import { getScreenPath, useNavigation, type NavigationEntry } from '../navigation.js';
import classes from './layout.module.css';

type EntryProps = { readonly entry: NavigationEntry; readonly organization: string };

const NavigationLink = ({ entry, organization }: EntryProps) => {
  const { label, path, key, icon: Icon } = entry;
  const navigate = useNavigate();
  const to = getScreenPath(organization, entry);
  useShortcut({ keys: `g ${key}`, label: `Go to ${label.toLowerCase()}`, run: () => void navigate({ to }) });
  return (
    <Link
      to={to}
      className={classes['link']}
      activeOptions={{ exact: path === '' }}
      activeProps={{ 'data-active': true, 'aria-current': 'page' }}
    >
      <Icon />
      {label}
    </Link>
  );
};

export const NavigationLinks = ({ organization }: { readonly organization: string }) => (
  <Stack gap={4}>
    {useNavigation(organization).map((entry) => (
      <NavigationLink key={entry.path} entry={entry} organization={organization} />
    ))}
  </Stack>
);
