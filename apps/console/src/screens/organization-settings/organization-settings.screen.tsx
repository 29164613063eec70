import { Button } from '@mantine/core';
import { Link, Navigate, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ChevronDownIcon } from '../../components/icons.js';
import { NotFoundState } from '../../components/states.js';
import { getSectionPath, useSettingsSections } from './sections.js';
import classes from './organization-settings.module.css';

const FROM = '/$organization/settings';

/** Links to the sections: beside the section in a wide window, and below a button on phones. */
const SectionLinks = ({ organization }: { readonly organization: string }) => {
  const sections = useSettingsSections(organization) ?? [];
  const current = useLocation({ select: ({ pathname }) => pathname });
  const [openAt, setOpenAt] = useState<string | null>(null);
  // Another section closes the list.
  const isOpen = openAt === current;
  const here = sections.find((section) => `${current}/`.startsWith(`${getSectionPath(organization, section)}/`));
  return (
    <nav aria-label="Settings" className={classes['sections']} data-open={isOpen || undefined}>
      <Button
        hiddenFrom="sm"
        variant="default"
        fullWidth
        justify="space-between"
        rightSection={<ChevronDownIcon size={14} />}
        aria-expanded={isOpen}
        onClick={() => setOpenAt(isOpen ? null : current)}
      >
        {here?.label ?? 'Sections'}
      </Button>
      <div className={classes['links']}>
        {sections.map((section) => (
          <Link
            key={section.path}
            to={getSectionPath(organization, section)}
            className={classes['link']}
            activeProps={{ 'aria-current': 'page' }}
          >
            {section.label}
          </Link>
        ))}
      </div>
    </nav>
  );
};

/** The frame around each section of the settings. */
export const OrganizationSettingsScreen = () => {
  const { organization } = useParams({ from: FROM });
  return (
    <div className={classes['frame']}>
      <SectionLinks organization={organization} />
      <div className={classes['section']}>
        <Outlet />
      </div>
    </div>
  );
};

/** Opens the first section that the person may see. */
export const FirstSection = () => {
  const { organization } = useParams({ from: FROM });
  const sections = useSettingsSections(organization);
  if (sections === undefined) return null;
  const [first] = sections;
  return first ? <Navigate to={getSectionPath(organization, first)} replace /> : <NotFoundState />;
};
