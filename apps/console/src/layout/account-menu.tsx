import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { accountQuery } from '../api/account.js';
import { setExactTimes, useExactTimes } from '../components/exact-times.js';
import { CheckIcon, ClockIcon, KeyboardIcon, SignOutIcon, SiteIcon, UserIcon } from '../components/icons.js';
import { useOpenDialog } from './dialogs.js';
import type { MenuProps } from '../components/menu-button.js';
import { signOut } from '../api/sign-out.js';

/** An item with an icon, as the others have. Mantine's own checkbox item has no space for one. */
const ExactTimesItem = () => {
  const isExact = useExactTimes();
  return (
    <Menu.Item
      leftSection={<ClockIcon size={16} />}
      rightSection={isExact ? <CheckIcon size={14} /> : null}
      closeMenuOnClick={false}
      onClick={() => setExactTimes(!isExact)}
      renderRoot={(props) => <button {...props} role="menuitemcheckbox" aria-checked={isExact} />}
    >
      Exact times
    </Menu.Item>
  );
};

export const AccountMenu = ({ children }: MenuProps) => {
  const openDialog = useOpenDialog();
  const { data: account } = useQuery(accountQuery);
  return (
    <Menu defaultOpened withinPortal={false} position="bottom-end" width={220}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {account && <Menu.Label>Signed in as {account.attributes.username}</Menu.Label>}
        <Menu.Item leftSection={<UserIcon size={16} />} renderRoot={(props) => <Link {...props} to="/~account" />}>
          Your account
        </Menu.Item>
        {account?.attributes['is-site-admin'] && (
          <Menu.Item leftSection={<SiteIcon size={16} />} renderRoot={(props) => <Link {...props} to="/~site" />}>
            Site
          </Menu.Item>
        )}
        <Menu.Item leftSection={<KeyboardIcon size={16} />} onClick={() => openDialog('shortcuts')}>
          Keyboard shortcuts
        </Menu.Item>
        <ExactTimesItem />
        <Menu.Divider />
        <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
