import { Menu } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { organizationsQuery } from '../api/organizations.js';
import { CheckIcon, OrganizationIcon } from '../components/icons.js';
import type { MenuProps } from '../components/menu-button.js';
import { getOrganizationPath } from '../navigation.js';
import classes from './layout.module.css';

/** Leads to the first screens of the organizations. */
export const OrganizationMenu = ({ children }: MenuProps) => {
  const current = useParams({ strict: false, select: (params) => params.organization ?? null });
  const { data } = useInfiniteQuery(organizationsQuery());
  const names = data?.pages.flatMap((page) => page.data.map(({ id }) => id)) ?? [];
  return (
    <Menu defaultOpened withinPortal={false} position="bottom-start" width={260}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <div role="group" aria-label="Your organizations" className={classes['organizations']}>
          {names.map((name) => (
            <Menu.Item
              key={name}
              leftSection={<OrganizationIcon size={16} />}
              rightSection={name === current ? <CheckIcon size={14} /> : null}
              renderRoot={(props) => <Link {...props} to={getOrganizationPath(name)} />}
            >
              {name}
            </Menu.Item>
          ))}
        </div>
        <Menu.Divider />
        <Menu.Item renderRoot={(props) => <Link {...props} to="/" />}>All organizations</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
